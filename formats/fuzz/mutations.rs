//! Changes to files that keep most of their structure, drawn from a seed: for tests that replay a corpus.

use topostream_formats::random::SplitMix64;

/// Words and numbers at which readers change their minds.
const WORDS: [&[u8]; 22] = [
    b"0",
    b"-1",
    b"1",
    b"4294967295",
    b"4294967296",
    b"9223372036854775807",
    b"18446744073709551615",
    b"18446744073709551616",
    b"1e400",
    b"nan",
    b"-0.0",
    b"\n",
    b"\n\n",
    b"\r\n",
    b" ",
    b"%",
    b"#",
    b",",
    b"\0",
    b"\xff",
    b"99999",
    b"symmetric",
];
const NUMBERS: [u64; 9] = [0, 1, 2, 255, 0x7fff_ffff, 0xffff_ffff, 1 << 32, 1 << 55, u64::MAX];

/// Pseudorandom numbers, by their state.
pub struct Draws(pub u64);

impl Draws {
    /// A number below `below`, which is not 0.
    pub fn below(&mut self, below: usize) -> usize {
        let mut random = SplitMix64(self.0);
        let drawn = random.draw();
        self.0 = random.0;
        (drawn % below as u64) as usize
    }
}

/// `data` with one to four changes behind its first `kept` bytes.
pub fn mutated(data: &[u8], kept: usize, draws: &mut Draws) -> Vec<u8> {
    let mut data = data.to_vec();
    for _ in 0..=draws.below(4) {
        let behind = data.len().saturating_sub(kept);
        if behind == 0 {
            data.extend(WORDS[draws.below(WORDS.len())]);
            continue;
        }
        let at = kept + draws.below(behind);
        match draws.below(8) {
            0 => data[at] ^= 1 << draws.below(8),
            1 => data[at] = draws.below(256) as u8,
            2 => drop(data.drain(at..(at + 1 + draws.below(16)).min(data.len()))),
            3 => {
                let from = kept + draws.below(behind);
                let piece = data[from..(from + 1 + draws.below(64)).min(data.len())].to_vec();
                data.splice(at..at, piece);
            }
            4 => drop(data.splice(at..at, WORDS[draws.below(WORDS.len())].iter().copied())),
            5 => replace_word(&mut data, at, WORDS[draws.below(WORDS.len())]),
            6 => {
                let number = NUMBERS[draws.below(NUMBERS.len())].to_le_bytes();
                let size = [4, 8][draws.below(2)].min(data.len() - at);
                data[at..at + size].copy_from_slice(&number[..size]);
            }
            _ => data.truncate(at),
        }
    }
    data
}

/// Puts `word` where the word around `at` stands.
fn replace_word(data: &mut Vec<u8>, at: usize, word: &[u8]) {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
    let begin = data[..at].iter().rposition(is_blank).map_or(0, |blank| blank + 1);
    let end = data[at..].iter().position(is_blank).map_or(data.len(), |blank| at + blank);
    if begin < end {
        data.splice(begin..end, word.iter().copied());
    }
}
