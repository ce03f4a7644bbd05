//! Packed pages for the second reader of stores, from `SPEC.md`, section 7, alone: number by number, and bit by bit.

use std::ops::Range;

/// The parameters of the encoding.
#[derive(Clone, Copy, Debug)]
pub struct Packed {
    pub edges_max: u64,
    pub step: bool,
    pub own: bool,
}

impl Packed {
    pub fn image_bytes(&self) -> u64 {
        4 * self.edges_max + 4096
    }

    /// Whether a page may have this many slots and neighbours.
    pub fn fits(&self, slots: u64, edges: u64) -> bool {
        edges <= self.edges_max && 32 + 4 * edges + 4 * (slots + 1) <= self.image_bytes()
    }
}

/// A page to decode, and what is known about it.
pub struct Page<'a> {
    pub bytes: &'a [u8],
    pub packed: Packed,
    pub start: u64,
    pub slots: u64,
    pub edges: u64,
    pub destinations: Range<u64>,
    /// The last neighbour of the run's page before this one, if this continues a list.
    pub before: Option<u64>,
}

const MODULO: u64 = 1 << 32;

/// The bits of a page's words, the lowest bit of the first word first.
struct Bits<'a>(&'a [u8]);

impl Bits<'_> {
    fn word(&self, at: u64) -> Result<u64, String> {
        self.number(32 * at, 32)
    }

    fn number(&self, bit: u64, width: u64) -> Result<u64, String> {
        let mut number = 0;
        for i in 0..width {
            let byte = self.0.get(((bit + i) / 8) as usize).ok_or("a number behind the page")?;
            number |= u64::from(byte >> ((bit + i) % 8) & 1) << i;
        }
        Ok(number)
    }
}

fn must(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// The edges of a page, as (vertex, neighbour).
pub fn edges(page: &Page<'_>) -> Result<Vec<(u64, u64)>, String> {
    let bits = Bits(page.bytes);
    let (blocks, degree_blocks) = (page.edges.div_ceil(128), page.slots.div_ceil(128));
    let units_at = 12 + 2 * blocks + 2 * degree_blocks;
    let payload_at = units_at + page.edges.div_ceil(1024);
    let [origin, degrees_at, payload_words, zero] = [bits.word(8)?, bits.word(9)?, bits.word(10)?, bits.word(11)?];
    must((origin, zero) == (page.destinations.start % MODULO, 0), "the second header")?;
    let degrees = degrees(page, &bits, 12 + 2 * blocks, payload_at + degrees_at)?;
    must(degrees.iter().sum::<u64>() == page.edges, "the sum of degrees")?;
    // The slot of every neighbour, and whether it is the first of its list.
    let mut lists = Vec::new();
    for (slot, &degree) in (0..).zip(&degrees) {
        lists.extend((0..degree).map(|i| (slot, i == 0 && page.before.is_none())));
    }
    let (mut word, mut found) = (0, Vec::new());
    let mut value = page.before.map(|before| before - origin);
    for block in 0..blocks {
        let unit = bits.word(units_at + block / 8)?;
        let entry = 32 * (13 + 2 * block);
        let offset = bits.number(entry, 13)?;
        must(unit + offset == word && (block % 8 > 0 || offset == 0), "where a block begins")?;
        let (gaps, words) = gaps(&bits, entry, 32 * (payload_at + word))?;
        word += words;
        let base = bits.word(12 + 2 * block)?;
        let first = lists[block as usize * 128].1;
        must(base == if first { 0 } else { value.ok_or("a list that continues nothing")? }, "a base")?;
        for (i, &gap) in gaps.iter().enumerate() {
            let Some(&(slot, first)) = lists.get(block as usize * 128 + i) else {
                must(gap == 0, "zeros behind the last gap")?;
                continue;
            };
            let vertex = page.start + slot;
            let own = (vertex + MODULO - origin) % MODULO;
            let next = match first {
                true if page.packed.own && gap % 2 == 0 => own + gap / 2,
                true if page.packed.own => own + MODULO - (gap / 2 + 1),
                true => gap,
                false => value.unwrap() + gap + u64::from(page.packed.step),
            } % MODULO;
            value = Some(next);
            must(page.destinations.contains(&(origin + next)), "a neighbour within the destinations")?;
            found.push((vertex, origin + next));
        }
    }
    must(word == degrees_at, "degrees behind the last block")?;
    let zeros = 4 * (payload_at + payload_words) as usize..;
    must(page.bytes[zeros].iter().all(|&byte| byte == 0), "zeros behind the payload")?;
    Ok(found)
}

/// The weights of a page of packed weights with this many (section 8).
pub fn weights(bytes: &[u8], count: u64) -> Result<Vec<u32>, String> {
    let bits = Bits(bytes);
    let blocks = count.div_ceil(128);
    let units_at = 4 + 2 * blocks;
    let payload_at = units_at + blocks.div_ceil(8);
    let (mut word, mut found) = (0, Vec::new());
    for block in 0..blocks {
        let unit = bits.word(units_at + block / 8)?;
        let entry = 32 * (5 + 2 * block);
        let offset = bits.number(entry, 13)?;
        must(unit + offset == word && (block % 8 > 0 || offset == 0), "where a block of weights begins")?;
        let (numbers, words) = gaps(&bits, entry, 32 * (payload_at + word))?;
        word += words;
        let least = bits.word(4 + 2 * block)?;
        let (here, missing) = numbers.split_at(128.min((count - 128 * block) as usize));
        must(missing.iter().all(|&number| number == 0), "zeros behind the last weight")?;
        must(here.contains(&0), "a block's smallest weight")?;
        for number in here {
            found.push(u32::try_from(least + number).map_err(|_| "a weight of 32 bits")?);
        }
    }
    must(bits.word(3)? == word, "the words of the payload")?;
    let end = 4 * (payload_at + word) as usize;
    must(bytes.len() == end.next_multiple_of(4096), "the length of a page of weights")?;
    must(bytes[end..].iter().all(|&byte| byte == 0), "zeros behind the payload")?;
    Ok(found)
}

/// The 128 gaps of a block whose second word of the entry and whose payload begin at these bits, and its words.
fn gaps(bits: &Bits<'_>, entry: u64, payload: u64) -> Result<(Vec<u64>, u64), String> {
    let (width, exceptions) = (bits.number(entry + 13, 6)?, bits.number(entry + 19, 7)?);
    let high = bits.number(entry + 26, 6)?;
    must(width + high <= 32 && (high == 0) == (exceptions == 0), "the widths of a block")?;
    let packed = (0..128).map(|i| bits.number(payload + i * width, width));
    let mut gaps = packed.collect::<Result<Vec<u64>, _>>()?;
    let at = payload + 128 * width;
    let mut least = 0;
    for i in 0..exceptions {
        let position = bits.number(at + 8 * i, 8)?;
        must((least..128).contains(&position), "ascending positions")?;
        least = position + 1;
        let above = bits.number(at + 8 * exceptions + high * i, high)?;
        must(above > 0, "an exception of more bits")?;
        gaps[position as usize] += above << width;
    }
    let used = exceptions * (8 + high);
    let words = used.div_ceil(32);
    must(bits.number(at + used, 32 * words - used)? == 0, "zeros behind exceptions")?;
    Ok((gaps, 4 * width + words))
}

/// The degrees of all slots; `entries` and `payload` are words.
fn degrees(page: &Page<'_>, bits: &Bits<'_>, entries: u64, payload: u64) -> Result<Vec<u64>, String> {
    let (mut degrees, mut word) = (Vec::new(), 0);
    for block in 0..page.slots.div_ceil(128) {
        let entry = entries + 2 * block;
        must(bits.word(entry)? == degrees.iter().sum::<u64>(), "the neighbours before a degree block")?;
        must(bits.number(32 * (entry + 1), 26)? == word, "where a degree block begins")?;
        let width = bits.number(32 * (entry + 1) + 26, 6)?;
        must(width <= 32, "the width of degrees")?;
        for i in 0..128 {
            let degree = bits.number(32 * (payload + word) + i * width, width)?;
            if block * 128 + i < page.slots {
                degrees.push(degree);
            } else {
                must(degree == 0, "zeros behind the last degree")?;
            }
        }
        word += 4 * width;
    }
    let (degrees_at, payload_words) = (bits.word(9)?, bits.word(10)?);
    must(degrees_at + word == payload_words, "the end of the payload")?;
    Ok(degrees)
}
