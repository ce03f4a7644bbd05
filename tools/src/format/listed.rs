//! New numbers for vertices, in the order of a file.

use super::naming::Naming;
use super::options::{FormatOptions, OrderFrom};
use super::order::{Numbering, Slots};
use crate::progress::Cancel;
use topostream_formats::{Error, Result, VertexOrder};
use topostream_readers::VertexList;

/// Main memory for reading a plain file, in bytes. Decompression takes more.
pub const READING_BYTES: u64 = 4 << 20;
/// The number of a vertex that has not been listed. It is the last vertex's as well if there are 2^32 of them.
const UNLISTED: u32 = u32::MAX;
/// Ids between two checks for cancellation.
const IDS_PER_CHECK: usize = 1 << 16;

/// Opens the file of the order, if there is one.
///
/// # Errors
/// If it cannot be opened, or none is named for an order that needs one.
pub fn open(options: &FormatOptions) -> Result<Option<VertexList>> {
    match &options.order_from {
        Some(OrderFrom::File(path)) => VertexList::open(path, READING_BYTES).map(Some),
        None if options.order == VertexOrder::Listed => {
            Err(Error::Invalid("the order `listed` needs a file that lists the vertices".into()))
        }
        Some(OrderFrom::Sample) | None => Ok(None),
    }
}

/// Numbers the vertices in the order of a file of original ids. Vertices that it does not list follow in natural order.
///
/// # Errors
/// With the place in the file, if an id is listed twice or no vertex has it; errors from reading the file.
pub fn number(
    list: &mut VertexList,
    naming: &Naming,
    slots: Slots<'_>,
    counts: Vec<u32>,
    cancel: &Cancel,
) -> Result<Numbering> {
    let vertices = naming.vertices() as usize;
    let (mut order, mut numbers) = (Vec::with_capacity(vertices), vec![UNLISTED; counts.len()]);
    while let Some(id) = list.next_id()? {
        if order.len() % IDS_PER_CHECK == 0 {
            cancel.check()?;
        }
        let Some(slot) = slots.of_original(id) else { return Err(list.error(&expected_ids(naming))) };
        let number = &mut numbers[slot as usize];
        if *number != UNLISTED || order.len() == vertices {
            let before = u64::from(*number) + 1;
            return Err(list.error(&format!("every vertex at most once: this one is number {before} of the order")));
        }
        *number = order.len() as u32;
        order.push(slot);
    }
    if order.len() < vertices {
        slots.for_each(|slot| {
            if numbers[slot as usize] == UNLISTED {
                numbers[slot as usize] = order.len() as u32;
                order.push(slot);
            }
        });
    }
    Ok(Numbering { order, numbers, counts })
}

/// The ids that a file may list, for an error.
fn expected_ids(naming: &Naming) -> String {
    match naming.first() {
        _ if naming.vertices() == 0 => "no ids: the graph has no vertices".into(),
        Some(first) => format!("a vertex of the graph: an id from {first} to {}", first + (naming.vertices() - 1)),
        None => "a vertex of the graph: an id in the edge list (`--ids keep` makes all ids up to the largest vertices)"
            .into(),
    }
}
