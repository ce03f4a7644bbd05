//! The state of a run as sections of a checkpoint.

use super::format::{Header, Section};
use super::reader::Reader;
use super::writer::{PIECE_BYTES, Writer, write as write_file};
use crate::error::Result;
use crate::model::algorithm::{Algorithm, Declaration, State, Step};
use crate::model::attributes::{Attribute, AttributeType};
use crate::model::bits::bit_words;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The section of data that the algorithm keeps by itself.
pub const KEPT: &str = "kept";
const FRONTIER: &str = "frontier";
const ACTIVATIONS: &str = "activations";

/// The number of words in a piece.
const WORDS: u64 = PIECE_BYTES as u64 / 4;

fn attribute_name(attribute: &Attribute) -> String {
    format!("attribute {}", attribute.name)
}

/// Returns the bytes of a vertex's activation: 2 while the numbers of all supersteps fit, then 4.
fn activation_bytes(step: &Step) -> u64 {
    if step.superstep < u16::MAX.into() { 2 } else { 4 }
}

/// Returns the sections of a checkpoint of some vertices before a superstep.
pub fn sections(
    algorithm: &dyn Algorithm,
    declaration: &Declaration,
    vertices: &Range<u64>,
    step: &Step,
) -> io::Result<Vec<Section>> {
    let words = |attribute: &Attribute| if vertices.is_empty() { 0 } else { attribute.words(vertices) };
    let of_attribute = |attribute: &Attribute| Section { name: attribute_name(attribute), bytes: 4 * words(attribute) };
    let mut sections: Vec<Section> = declaration.attributes.iter().map(of_attribute).collect();
    if declaration.traversal {
        sections.push(Section { name: FRONTIER.into(), bytes: 4 * words_of_bits(vertices) });
    }
    if declaration.keeps_activations {
        sections.push(Section {
            name: ACTIVATIONS.into(),
            bytes: activation_bytes(step) * (vertices.end - vertices.start),
        });
    }
    let mut kept = Counted(0);
    algorithm.keep(&mut kept)?;
    sections.push(Section { name: KEPT.into(), bytes: kept.0 });
    Ok(sections)
}

/// The number of 32-bit words that the bits of some vertices touch.
fn words_of_bits(vertices: &Range<u64>) -> u64 {
    if vertices.is_empty() { 0 } else { bit_words(vertices).count() as u64 }
}

/// Counts bytes and discards them.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a checkpoint of the header's vertices. Returns its length in bytes.
pub fn write(
    file: &mut File,
    header: &Header,
    algorithm: &dyn Algorithm,
    declaration: &Declaration,
    state: &State,
    step: &Step,
) -> io::Result<u64> {
    let vertices = header.range(state.graph.vertices);
    write_file(file, &header.encode()?, |out| {
        let words: Vec<AtomicU32> = (0..WORDS).map(|_| AtomicU32::new(0)).collect();
        for (place, attribute) in declaration.attributes.iter().enumerate() {
            for piece in pieces(attribute.of, &vertices) {
                let words = &words[..attribute.words(&piece) as usize];
                state.attributes.put(place, &piece, words);
                out.words(words.iter().map(|word| word.load(Relaxed)))?;
            }
            out.end_section()?;
        }
        if declaration.traversal {
            for piece in pieces(AttributeType::Bit, &vertices) {
                out.words(state.frontier(step.superstep).words_of(&piece))?;
            }
            out.end_section()?;
        }
        if declaration.keeps_activations {
            write_activations(out, (state, &vertices), step)?;
            out.end_section()?;
        }
        algorithm.keep(out)?;
        out.end_section()
    })
}

fn write_activations(out: &mut Writer<'_>, (state, vertices): (&State, &Range<u64>), step: &Step) -> io::Result<()> {
    let activations = state.activations().expect("the algorithm keeps activations");
    // The superstep plus 1, or 0 for a vertex that was never active.
    let number = |vertex: u64| activations.superstep(vertex as u32).map_or(0, |superstep| superstep + 1);
    let narrow = activation_bytes(step) == 2;
    let mut bytes = Vec::with_capacity(4 << 14);
    for first in vertices.clone().step_by(1 << 14) {
        bytes.clear();
        let piece = first..vertices.end.min(first + (1 << 14));
        match narrow {
            true => bytes.extend(piece.flat_map(|vertex| (number(vertex) as u16).to_le_bytes())),
            false => bytes.extend(piece.flat_map(|vertex| number(vertex).to_le_bytes())),
        }
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// Loads the values of a checkpoint's vertices into a state in which these are zero.
///
/// # Errors
/// The errors of [`Reader`].
pub fn load(reader: &mut Reader, declaration: &Declaration, state: &State, step: &Step) -> Result<()> {
    let vertices = reader.header().range(state.graph.vertices);
    for (place, attribute) in declaration.attributes.iter().enumerate() {
        reader.seek(&attribute_name(attribute))?;
        for piece in pieces(attribute.of, &vertices) {
            let words = reader.words(attribute.words(&piece) as usize)?;
            state.attributes.set_words(place, &piece, &words);
        }
    }
    if declaration.traversal {
        reader.seek(FRONTIER)?;
        for piece in pieces(AttributeType::Bit, &vertices) {
            let words = reader.words(bit_words(&piece).count())?;
            state.frontier(step.superstep).add_words(&piece, &words);
        }
    }
    if let Some(activations) = state.activations() {
        reader.seek(ACTIVATIONS)?;
        let narrow = activation_bytes(step) == 2;
        for first in vertices.clone().step_by(1 << 14) {
            let piece = first..vertices.end.min(first + (1 << 14));
            for (vertex, number) in piece.clone().zip(numbers(reader, (piece.end - piece.start) as usize, narrow)?) {
                if let Some(superstep) = number.checked_sub(1) {
                    activations.note(vertex as u32, superstep);
                }
            }
        }
    }
    Ok(())
}

/// Passes the data that the algorithm has kept to it, once all values are loaded.
///
/// # Errors
/// [`Error::Checkpoint`](crate::Error::Checkpoint) if the algorithm finds that they are not valid.
pub fn recall(reader: &mut Reader, algorithm: &dyn Algorithm, state: &State, step: &Step) -> Result<()> {
    reader.seek(KEPT)?;
    algorithm.recall(state, step, reader).map_err(|message| reader.error(message))
}

fn numbers(reader: &mut Reader, count: usize, narrow: bool) -> Result<Vec<u32>> {
    if !narrow {
        return reader.words(count);
    }
    let words = reader.halves(count)?;
    Ok(words.into_iter().map(u32::from).collect())
}

/// Divides vertices into ranges whose words fill a piece of a file at most, and which begin with a word of bits.
fn pieces(of: AttributeType, vertices: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let (size, vertices) = (of.vertices_in(WORDS), vertices.clone());
    let numbers = if vertices.is_empty() { 0..0 } else { vertices.start / size..vertices.end.div_ceil(size) };
    numbers.map(move |at| (at * size).max(vertices.start)..((at + 1) * size).min(vertices.end))
}
