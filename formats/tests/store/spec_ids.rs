//! Packed original ids for the second reader of stores, from `SPEC.md`, section 9, alone.

use std::collections::BTreeSet;

/// All ids of a file, for this many vertices.
pub fn ids(bytes: &[u8], vertices: u64) -> Result<Vec<u64>, String> {
    let mut at = 0;
    let mut bits = |count: u64| {
        let bit = |bit: u64| bytes.get((bit / 8) as usize).map(|byte| u64::from(byte >> (bit % 8) & 1));
        let number = (0..count).try_fold(0, |sum, i| Some(sum | bit(at + i)? << i));
        at += count;
        number.ok_or("ids behind the end of the file")
    };
    let (listed, first) = (bits(64)?, bits(64)?);
    let mut ids = Vec::new();
    while (ids.len() as u64) < listed {
        let (width, exceptions, high, frame, zero) = (bits(7)?, bits(7)?, bits(7)?, bits(1)?, bits(10)?);
        must(width + high <= 64 && (high == 0) == (exceptions == 0) && zero == 0, "a block's header")?;
        let least = if frame == 1 { bits(64)? } else { 0 };
        let mut numbers = (0..128).map(|_| bits(width)).collect::<Result<Vec<u64>, _>>()?;
        let positions = (0..exceptions).map(|_| bits(8)).collect::<Result<Vec<u64>, _>>()?;
        must(positions.windows(2).all(|pair| pair[0] < pair[1]), "ascending positions")?;
        for position in positions {
            let above = bits(high)?;
            must(position < 128 && above > 0, "an exception")?;
            numbers[position as usize] += above << width;
        }
        let used = exceptions * (8 + high) % 32;
        must(bits((32 - used) % 32)? == 0, "zeros behind exceptions")?;
        let count = (listed - ids.len() as u64).min(128) as usize;
        must(numbers[count..].iter().all(|&number| number == 0), "zeros behind the last id")?;
        for &number in &numbers[..count] {
            let before = ids.last().copied().unwrap_or(u64::MAX);
            ids.push(if frame == 1 { least + number } else { before.wrapping_add(1).wrapping_add(number) });
        }
    }
    must(at == 8 * bytes.len() as u64, "more bytes")?;
    let mut left: BTreeSet<u64> = if listed < vertices { (first..first + vertices).collect() } else { BTreeSet::new() };
    if listed < vertices {
        must(ids.iter().all(|id| left.remove(id)), "an id twice, or out of the range")?;
    } else {
        must(first == 0 && listed == vertices, "the number of ids")?;
    }
    ids.extend(left);
    Ok(ids)
}

fn must(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}
