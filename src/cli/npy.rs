//! The header of NumPy's .npy files: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

/// What records begin at a multiple of, in bytes.
const ALIGNMENT: usize = 64;

/// A column of records: its name, and what its values of eight little-endian bytes are.
pub struct Column<'a> {
    pub name: &'a str,
    pub kind: Kind,
}

/// What eight bytes stand for.
#[derive(Clone, Copy)]
pub enum Kind {
    Unsigned,
    Signed,
    Float,
}

/// The bytes in front of `rows` records with these columns.
pub fn header(columns: &[Column<'_>], rows: u64) -> Vec<u8> {
    let fields: Vec<String> = columns.iter().map(field).collect();
    let fields = fields.join(", ");
    let mut text = format!("{{'descr': [{fields}], 'fortran_order': False, 'shape': ({rows},), }}");
    // The length has two bytes in version 1 and four in later ones. Only version 3 has text other than ASCII.
    let is_short = text.len() + ALIGNMENT < usize::from(u16::MAX);
    let version: u8 = if !text.is_ascii() { 3 } else { 2 - u8::from(is_short) };
    let length_bytes = if version == 1 { 2 } else { 4 };
    let start = b"\x93NUMPY\x01\x00".len() + length_bytes;
    let length = (start + text.len() + 1).next_multiple_of(ALIGNMENT) - start;
    text.extend(std::iter::repeat_n(' ', length - text.len() - 1));
    text.push('\n');
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    bytes.extend_from_slice(&(length as u32).to_le_bytes()[..length_bytes]);
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

/// A column as Python writes it: `('rank', '<f8')`.
fn field(column: &Column<'_>) -> String {
    let name = column.name.replace('\\', "\\\\").replace('\'', "\\'");
    let kind = match column.kind {
        Kind::Unsigned => "<u8",
        Kind::Signed => "<i8",
        Kind::Float => "<f8",
    };
    format!("('{name}', '{kind}')")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns that a reader finds in the header, and its length.
    fn read(columns: &[Column<'_>], rows: u64) -> (Vec<(String, String)>, u64, usize) {
        let bytes = header(columns, rows);
        let read = npyz::NpyHeader::from_reader(&bytes[..]).unwrap();
        let npyz::DType::Record(fields) = read.dtype() else { panic!("records") };
        let kind = |of: &npyz::DType| of.descr();
        (fields.iter().map(|field| (field.name.clone(), kind(&field.dtype))).collect(), read.shape()[0], bytes.len())
    }

    #[test]
    fn columns_are_read_by_another_reader() {
        let columns = [("vertex", Kind::Unsigned), ("rank", Kind::Float), ("it's \\ a", Kind::Signed)];
        let (fields, rows, length) = read(&columns.map(|(name, kind)| Column { name, kind }), 1 << 40);
        let expected = [("vertex", "'<u8'"), ("rank", "'<f8'"), ("it's \\ a", "'<i8'")];
        assert_eq!(fields, expected.map(|(name, kind)| (name.to_owned(), kind.to_owned())));
        assert_eq!((rows, length % ALIGNMENT), (1 << 40, 0));
    }

    #[test]
    fn headers_are_aligned_at_every_length_and_in_every_version() {
        for (name, version, lengths) in [("a", 1, 1..66), ("a", 2, 65_420..65_424), ("ä", 3, 1..66)] {
            for length in lengths {
                let name = name.repeat(length);
                let columns = [Column { name: &name, kind: Kind::Float }];
                let (fields, rows, bytes) = read(&columns, 7);
                assert_eq!((fields[0].0.len(), rows, bytes % ALIGNMENT), (name.len(), 7, 0));
                assert_eq!(header(&columns, 7)[6], version, "{length}");
            }
        }
    }
}
