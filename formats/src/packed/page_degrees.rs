//! The degrees of a packed page, from its header and its degree blocks alone.

use super::bits::{self, block_words};
use super::layout::{BLOCK, HEADER_WORDS, PackedHeader, table_words};
use crate::defect::PageDefect;
use crate::header::{HEADER_BYTES, PageHeader};

/// Degree blocks that are read at a time: 2 KiB of entries and up to 128 KiB of degrees.
const BLOCKS_READ: usize = 256;

/// Adds the degrees of a page's slots to `degrees`. `expected` is the header that the page must have; `page_words` is
/// the page's size; `read` fills words from a word of the page on. What is read is checked, as far as it can be without
/// the page's checksum.
pub(crate) fn add_degrees<E: From<PageDefect>>(
    expected: &PageHeader,
    page_words: u64,
    mut read: impl FnMut(u64, &mut [u32]) -> Result<(), E>,
    degrees: &mut [u32],
) -> Result<(), E> {
    let mut headers = [0; HEADER_WORDS];
    read(0, &mut headers)?;
    let bytes: &[u8] = bytemuck::bytes_of(&headers);
    let header: PageHeader = bytemuck::pod_read_unaligned(&bytes[..HEADER_BYTES]);
    let packed: PackedHeader = bytemuck::pod_read_unaligned(&bytes[HEADER_BYTES..]);
    PageDefect::unless_with(header == *expected, || format!("{expected:?}"), || format!("{header:?}"))?;
    let (slots, edges) = (u64::from(header.slot_count), u64::from(header.edge_count));
    let payload_at = table_words(slots, edges);
    let room = || format!("at most {page_words} words of tables and payload");
    let need = payload_at + u64::from(packed.payload_words);
    PageDefect::unless_with(need <= page_words, room, || need.to_string())?;
    let entries_at = HEADER_WORDS as u64 + 2 * edges.div_ceil(BLOCK as u64);
    let (mut at, end) = (u64::from(packed.degrees_at), u64::from(packed.payload_words));
    let (mut sum, mut entries, mut payload) = (0u64, vec![0; 2 * BLOCKS_READ], Vec::new());
    for (chunk, degrees) in degrees.chunks_mut(BLOCKS_READ * BLOCK).enumerate() {
        let entries = &mut entries[..2 * degrees.len().div_ceil(BLOCK)];
        read(entries_at + (2 * BLOCKS_READ * chunk) as u64, entries)?;
        let from = at;
        for entry in entries.chunks_exact(2) {
            let (offset, width) = (u64::from(entry[1] & 0x3FF_FFFF), entry[1] >> 26);
            let sound = width <= 32 && u64::from(packed.degrees_at) + offset == at;
            let next = || format!("a degree block at payload word {at}, of up to 32 bits");
            PageDefect::unless_with(sound, next, || format!("one of {width} bits at {offset}"))?;
            at += block_words(width) as u64;
        }
        PageDefect::unless_with(at <= end, || format!("{end} words of payload"), || at.to_string())?;
        payload.resize((at - from) as usize, 0);
        read(payload_at + from, &mut payload)?;
        sum = add_blocks(entries, &payload, sum, degrees)?;
    }
    let found = (sum, at);
    PageDefect::unless_with(found == (edges, end), || format!("{:?}", (edges, end)), || format!("{found:?}"))?;
    Ok(())
}

/// Adds the degrees of some blocks, of which `sum` neighbours come before the first. Returns the sum after the last.
fn add_blocks(entries: &[u32], mut payload: &[u32], mut sum: u64, degrees: &mut [u32]) -> Result<u64, PageDefect> {
    let mut unpacked = [0; BLOCK];
    for (entry, degrees) in entries.chunks_exact(2).zip(degrees.chunks_mut(BLOCK)) {
        let expected = || format!("a degree block with {sum} neighbours before it");
        PageDefect::unless_with(u64::from(entry[0]) == sum, expected, || entry[0].to_string())?;
        let width = entry[1] >> 26;
        bits::unpack(payload, width, &mut unpacked);
        payload = &payload[block_words(width)..];
        for (degree, &more) in degrees.iter_mut().zip(&unpacked) {
            *degree = degree.wrapping_add(more);
            sum += u64::from(more);
        }
    }
    Ok(sum)
}
