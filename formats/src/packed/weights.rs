//! Pages of packed weights: blocks of 128 weights less the smallest one, as the gaps of packed pages. SPEC.md, section
//! 8, specifies them.
//!
//! ```text
//!  read at the end of a place          ┌────────┬────────┬───────┬─────────────────┬───────┐
//!                                      │ header │ blocks │ units │ packed weights  │ zeros │
//!  ┌────────┬──────────────────────────┴────────┴────────┴───────┴─────────────────┴───────┤
//!  │ header │ weight 0, weight 1, … ─▶ unpacked from the first one on                      │
//!  └────────┴──────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! A page is unpacked where it has been read: no block is longer than its weights, so those written never reach the
//! blocks that are still to be read.

use super::bits::bits_of;
use super::block::Shape;
use super::kernels;
use super::layout::{BLOCK, UNIT_BLOCKS};
use crate::defect::PageDefect;
use crate::header::WeightsHeader;

/// The length of a page of packed weights is a multiple of this many bytes, so that pages can be read directly.
pub const SECTOR: usize = 4096;
/// `payload_words` of a page whose weights are stored as they are.
const PLAIN: u32 = u32::MAX;
/// Words of the header.
const HEADER_WORDS: usize = size_of::<WeightsHeader>() / 4;
/// The largest payload of a block: its weights as they are.
const BLOCK_WORDS_MAX: usize = BLOCK;
/// Words behind a block that the processor's vector instructions may read.
const BEHIND: usize = 8;

/// The smallest weight of a block, the shape of the numbers above it, and these numbers: 0 for missing weights.
fn shape_of(weights: &[u32]) -> (u32, Shape, [u32; BLOCK]) {
    let least = weights.iter().copied().min().unwrap_or(0);
    let mut numbers = [0; BLOCK];
    numbers.iter_mut().zip(weights).for_each(|(number, weight)| *number = weight - least);
    let shape = Shape::of_widths(&numbers.map(|number| bits_of(number) as u8));
    (least, shape, numbers)
}

/// Packs the weights of a page: the bytes of the page in words, a whole number of [`SECTOR`]s. `header` is the header
/// of the page with its weights as they are.
pub(crate) fn pack(header: &WeightsHeader, weights: &[u32]) -> Vec<u32> {
    debug_assert_eq!(header.edge_count as usize, weights.len());
    let count = weights.len().div_ceil(BLOCK);
    let tables = 2 * count + count.div_ceil(UNIT_BLOCKS);
    let (mut entries, mut units) = (Vec::with_capacity(2 * count), Vec::with_capacity(count / UNIT_BLOCKS + 1));
    let mut payload = Vec::with_capacity(weights.len() / 2);
    for (block, weights) in weights.chunks(BLOCK).enumerate() {
        if block % UNIT_BLOCKS == 0 {
            units.push(payload.len() as u32);
        }
        let (least, mut shape, numbers) = shape_of(weights);
        shape.offset = payload.len() as u32 - units[units.len() - 1];
        entries.extend([least, shape.encode()]);
        let at = payload.len();
        payload.resize(at + shape.words(), 0);
        shape.pack(&numbers, &mut payload[at..]);
    }
    let is_smaller = tables + payload.len() < weights.len();
    let payload_words = if is_smaller { payload.len() as u32 } else { PLAIN };
    let mut words = Vec::with_capacity(HEADER_WORDS + weights.len() + SECTOR / 4);
    words.extend([header.page, header.tag, header.edge_count, payload_words]);
    match is_smaller {
        true => [&entries, &units, &payload].into_iter().for_each(|part| words.extend_from_slice(part)),
        false => words.extend_from_slice(weights),
    }
    words.resize(words.len().next_multiple_of(SECTOR / 4), 0);
    words
}

/// The words of a page before its zeros, by its header. None if the header is not the expected one, or they are more
/// than the page has.
fn used_words(page: &[u32], expected: &WeightsHeader) -> Option<usize> {
    let [number, tag, count, payload_words] = *page.first_chunk()?;
    let blocks = (count as usize).div_ceil(BLOCK);
    let used = match payload_words {
        PLAIN => HEADER_WORDS + count as usize,
        words => HEADER_WORDS + 2 * blocks + blocks.div_ceil(UNIT_BLOCKS) + words as usize,
    };
    let is_expected = (number, tag, count) == (expected.page, expected.tag, expected.edge_count);
    (is_expected && used <= page.len()).then_some(used)
}

/// Unpacks a page whose bytes are the last `page_words` words of a place: writes the same page with its weights as they
/// are from the start of the place on. What is behind them is undefined. `header` is the header of the unpacked page,
/// which must fit. Safe for any words; the page's checksum is not checked here.
///
/// # Errors
/// The first defect.
pub(crate) fn unpack(place: &mut [u32], page_words: usize, header: &WeightsHeader) -> Result<(), PageDefect> {
    unpack_with(place, page_words, header, kernels::fast())
}

fn unpack_with(
    place: &mut [u32],
    page_words: usize,
    header: &WeightsHeader,
    fast: kernels::Fast,
) -> Result<(), PageDefect> {
    let (room, begin) = (place.len(), place.len() - page_words);
    let count = header.edge_count as usize;
    let found = |page: &[u32]| format!("{:?} in {} words", &page[..HEADER_WORDS.min(page.len())], page.len());
    let Some(used) = used_words(&place[begin..], header) else {
        return Err(PageDefect::new(format!("packed weights of {header:?}"), found(&place[begin..])));
    };
    let weights = HEADER_WORDS + count;
    PageDefect::unless_with(weights <= room, || format!("at most {room} words"), || weights.to_string())?;
    if place[begin + 3] == PLAIN {
        place.copy_within(begin + HEADER_WORDS..begin + used, HEADER_WORDS);
        place[..HEADER_WORDS].copy_from_slice(bytemuck::cast_slice(bytemuck::bytes_of(header)));
        return Ok(());
    }
    let blocks = count.div_ceil(BLOCK);
    let tables = 2 * blocks + blocks.div_ceil(UNIT_BLOCKS);
    let at = begin + HEADER_WORDS;
    let (entries, units) = place[at..at + tables].split_at(2 * blocks);
    let (entries, units) = (entries.to_vec(), units.to_vec());
    check_blocks(&entries, &units, used - HEADER_WORDS - tables)?;
    // Without the zeros, each block begins behind the weights of those before it.
    let mut read = room + HEADER_WORDS + tables - used;
    place.copy_within(at + tables..begin + used, read);
    place[..HEADER_WORDS].copy_from_slice(bytemuck::cast_slice(bytemuck::bytes_of(header)));
    let (mut packed, mut numbers) = ([0; BLOCK_WORDS_MAX + BEHIND], [0; BLOCK]);
    for (entry, write) in entries.chunks_exact(2).zip((HEADER_WORDS..weights).step_by(BLOCK)) {
        let (least, shape) = (entry[0], Shape::decode(entry[1]));
        let words = shape.words();
        packed[..words].copy_from_slice(&place[read..read + words]);
        read += words;
        kernels::unpack(fast, &packed, shape.width, &mut numbers);
        if shape.exceptions > 0 {
            kernels::patch(fast, &packed[shape.packed_words()..], shape, &mut numbers);
        }
        let out = &mut place[write..weights.min(write + BLOCK)];
        out.iter_mut().zip(&numbers).for_each(|(weight, number)| *weight = least.wrapping_add(*number));
    }
    Ok(())
}

/// Checks that blocks follow one another to the end of the payload, that none is longer than its weights, and where
/// units begin.
fn check_blocks(entries: &[u32], units: &[u32], payload_words: usize) -> Result<(), PageDefect> {
    let mut word = 0;
    for (block, entry) in entries.chunks_exact(2).enumerate() {
        let (shape, unit) = (Shape::decode(entry[1]), units[block / UNIT_BLOCKS] as usize);
        let begins = unit + shape.offset as usize == word && (block % UNIT_BLOCKS > 0 || unit == word);
        PageDefect::unless_with(
            shape.is_valid() && begins && shape.words() <= BLOCK_WORDS_MAX,
            || format!("block {block} of weights at payload word {word}"),
            || format!("unit at {unit}, {shape:?}"),
        )?;
        word += shape.words();
    }
    PageDefect::unless_with(word == payload_words, || format!("{word} words of payload"), || payload_words.to_string())
}

/// Checks what unpacking ignores in a page that can be unpacked: zeros behind the contents, the smallest weights of
/// blocks, and the order of exceptions. For verifiers.
pub(crate) fn check_details(page: &[u32], header: &WeightsHeader) -> Result<(), PageDefect> {
    let used = used_words(page, header).unwrap_or(page.len());
    let zeros = page[used..].iter().all(|&word| word == 0) && page.len() - used < SECTOR / 4;
    PageDefect::unless_with(zeros, || "fewer than 4096 bytes behind weights, zeros", || "other bits".into())?;
    if page[3] == PLAIN {
        return Ok(());
    }
    let (count, blocks) = (header.edge_count as usize, (header.edge_count as usize).div_ceil(BLOCK));
    let payload = &page[HEADER_WORDS + 2 * blocks + blocks.div_ceil(UNIT_BLOCKS)..used];
    let mut at = 0;
    for (block, entry) in page[HEADER_WORDS..HEADER_WORDS + 2 * blocks].chunks_exact(2).enumerate() {
        let shape = Shape::decode(entry[1]);
        let words = &payload[at..at + shape.words()];
        let mut numbers = [0; BLOCK];
        kernels::unpack(None, words, shape.width, &mut numbers);
        shape.patch(&words[shape.packed_words()..], &mut numbers);
        shape.check_exceptions(&words[shape.packed_words()..], block)?;
        let (here, missing) = numbers.split_at(BLOCK.min(count - block * BLOCK));
        let is_sound = here.contains(&0)
            && here.iter().all(|number| entry[0].checked_add(*number).is_some())
            && missing.iter().all(|&number| number == 0);
        let expected = || format!("block {block} of weights with its smallest weight first, and zeros behind the last");
        PageDefect::unless_with(is_sound, expected, || format!("{} and {numbers:?}", entry[0]))?;
        at += shape.words();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    fn header(weights: &[u32]) -> WeightsHeader {
        WeightsHeader { page: 7, tag: 9, edge_count: weights.len() as u32, reserved: 0 }
    }

    /// A place as long as a plain image of pages of this many neighbours, with a page at its end.
    fn place(page: &[u32], edges_max: usize) -> Vec<u32> {
        let mut place = vec![0xABAB_ABAB; edges_max + 1024 - page.len()];
        place.extend_from_slice(page);
        place
    }

    #[test]
    fn weights_are_unpacked_as_packed() {
        let mut random = SplitMix64(5);
        for round in 0..400u32 {
            let count = (random.draw() % 4097) as usize;
            let (width, large) = (random.draw() % 33, random.draw() % 33);
            let draw = |bits: u64, random: &mut SplitMix64| (random.draw() & ((1 << bits) - 1)) as u32;
            let rare = 1 + random.draw() % 60;
            let weights: Vec<u32> = (0..count)
                .map(|_| draw(if random.draw().is_multiple_of(rare) { large } else { width }, &mut random))
                .collect();
            let page = pack(&header(&weights), &weights);
            assert!(page.len().is_multiple_of(SECTOR / 4) && page.len() <= 4096 + 1024, "{round}");
            check_details(&page, &header(&weights)).unwrap();
            for fast in [kernels::fast(), None] {
                let mut place = place(&page, 4096);
                unpack_with(&mut place, page.len(), &header(&weights), fast).unwrap();
                assert_eq!(&place[..4], &[7, 9, count as u32, 0], "{round}");
                assert_eq!(&place[4..4 + count], &weights, "{round}");
            }
        }
    }

    #[test]
    fn constant_weights_take_no_payload_and_random_ones_no_more_than_themselves() {
        let (constant, mut random) = (vec![u32::MAX; 4096], SplitMix64(1));
        assert_eq!(pack(&header(&constant), &constant).len(), 1024);
        let noise: Vec<u32> = (0..4096).map(|_| random.draw() as u32).collect();
        let page = pack(&header(&noise), &noise);
        assert_eq!((page.len(), page[3]), (4096 + 1024, PLAIN));
    }

    /// Any damage ends in a defect or in other weights, never in a panic.
    #[test]
    fn damaged_pages_do_not_panic() {
        let mut random = SplitMix64(3);
        let weights: Vec<u32> = (0..3000).map(|i| if i % 50 == 0 { 1 << 20 } else { i % 100 }).collect();
        let page = pack(&header(&weights), &weights);
        for _ in 0..3000 {
            let mut damaged = page.clone();
            let at = (random.draw() as usize % (2 * damaged.len())).min(damaged.len() - 1) % 120;
            damaged[at] ^= 1 << (random.draw() % 32);
            let unpacked = unpack(&mut place(&damaged, 3072), damaged.len(), &header(&weights));
            if unpacked.is_ok() {
                check_details(&damaged, &header(&weights)).ok();
            }
        }
    }
}
