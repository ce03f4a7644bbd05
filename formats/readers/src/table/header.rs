//! Whether the first row of a table is an edge, or has the names of its columns.

use super::roles;
use crate::cursor::integer;
use topostream_formats::names::NameList;

/// What a first row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// The names of the columns.
    Names,
    /// Probably names: nothing but the form of the cells below tells.
    Probably,
    /// An edge.
    Row,
}

/// Decides about a first row by the rows below.
///
/// It has names if its words name edges' ends or weights, if they are words that stand above columns, if words stand
/// above numbers, or if all cells below have a form of their own, such as `u17`. A cell that comes up again below is no
/// name.
pub(super) fn of(first: &[String], rows: &[NameList]) -> Header {
    let below = |place: usize| rows.iter().filter(move |row| place < row.len()).map(move |row| row.get(place));
    // A cell that comes up again, in any column, is a vertex; and so is one of which the number alone differs.
    let comes_again = |place: usize| {
        let name = first[place].as_bytes();
        let of = form(name);
        let is_same = |cell: &[u8]| cell == name || of.contains(&b'9') && of.len() > 1 && form(cell) == of;
        !name.is_empty() && (0..first.len()).flat_map(below).any(is_same)
    };
    let is_number = |cell: &[u8]| !cell.is_empty() && is_number(cell);
    let is_index = || {
        let counts = below(0).zip(0u64..).all(|(cell, row)| integer(cell).is_some_and(|of| of == row || of == row + 1));
        first.first().is_some_and(String::is_empty) && first.len() > 1 && counts
    };
    if !rows.is_empty() && is_index() {
        return Header::Names;
    }
    if (0..first.len()).any(comes_again) || first.iter().any(|cell| cell.starts_with('{')) {
        return Header::Row;
    }
    if first.iter().any(|cell| is_number(cell.as_bytes())) {
        return Header::Row;
    }
    let heads_numbers =
        |place: usize| !first[place].is_empty() && below(place).all(is_number) && below(place).next().is_some();
    // Whether a cell differs from all below, which have one form; `None` if they have several.
    let differs = |place: usize| {
        let mut forms = below(place).map(form);
        let form_of = forms.next().filter(|form| form.contains(&b'9') && rows.len() > 1)?;
        forms.all(|form| form == form_of).then(|| form(first[place].as_bytes()) != form_of)
    };
    let have_other_form = || {
        let mut differing = (0..first.len()).filter_map(differs).peekable();
        differing.peek().is_some() && differing.all(|differs| differs)
    };
    let is_name = |name: &String| roles::is_heading(name) && name.len() > 1;
    let named = || first.iter().filter(|cell| !cell.is_empty());
    let are_headings = named().next().is_some() && named().all(is_name);
    let is_sure = |name: &String| roles::words(name).len() > 1 && is_name(name);
    match () {
        () if !roles::pairs(first).is_empty() || named().any(is_sure) || (0..first.len()).any(heads_numbers) => {
            Header::Names
        }
        () if are_headings || have_other_form() => Header::Probably,
        () => Header::Row,
    }
}

/// Whether a cell is a number, whole or not.
pub(super) fn is_number(cell: &[u8]) -> bool {
    integer(cell).is_some() || std::str::from_utf8(cell).is_ok_and(|text| text.parse::<f64>().is_ok_and(f64::is_finite))
}

/// The form of a text: runs of letters and of digits count as one of each.
fn form(cell: &[u8]) -> Vec<u8> {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => b'9',
        b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => b'a',
        other => other,
    };
    let mut form: Vec<u8> = cell.iter().map(|&byte| class(byte)).collect();
    form.dedup();
    form
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Header {
        let row = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let list = |cells: Vec<String>| {
            let mut list = NameList::default();
            cells.iter().for_each(|cell| list.push(cell.as_bytes()));
            list
        };
        let mut lines = text.lines().map(row);
        let first = lines.next().unwrap();
        super::of(&first, &lines.map(list).collect::<Vec<_>>())
    }

    #[test]
    fn names_of_columns() {
        for text in [
            "src,dst\n1,2",
            "x,y\n1,2\n3,4",
            "user_id,friend_id\nu1,u2",
            "creationDate,Person1Id,Person2Id\na,b,c",
            ",user,friend\n0,11,12\n1,12,13",
            ",0,1\n0,5,6\n1,6,7",
            "u,v\na,b",
            "source,target\n",
            "a,b,weight\nx,y,1\ny,z,2",
        ] {
            assert_eq!(of(text), Header::Names, "{text:?}");
        }
    }

    #[test]
    fn what_is_probable_only() {
        for text in ["user,item\nann,book", "name\nann\nbob", "foo,bar\nu1,u2\nu2,u13"] {
            assert_eq!(of(text), Header::Probably, "{text:?}");
        }
    }

    #[test]
    fn edges_at_the_beginning() {
        for text in [
            "alice,bob\ncarol,dave",
            "a,b\nc,d",
            "u,v\nv,w\nu,w",
            "source,sink\nx,source\ny,source\nsource,t",
            "1,x\n2,y",
            "Q42,P31,Q5\nQ5,P279,Q215627",
            "ann,book 1\nbob,book 2\ncarol,pen",
            "w,x\ny,z",
            "root,u1\nu1,u2\nu2,u3",
            "user1,user2\nuser3,user4",
            "x1,x2\nx2,short",
            "u,v\nx,u\ny,z",
        ] {
            assert_eq!(of(text), Header::Row, "{text:?}");
        }
    }
}
