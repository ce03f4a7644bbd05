//! What a search keeps in checkpoints: the communities so far, between iterations, and of one resolution between
//! levels.
//!
//! All is written as numbers of 32 bits, vectors after their lengths.

use super::hierarchy::{Hierarchy, Places};
use super::search::Climb;
use crate::model::Parameters;
use crate::model::algorithm::{Algorithm, Answer, Declaration, Kernel, List, State, Step, Visit};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::Mutex;
use topostream_formats::Direction;

/// How far a search has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of iterations that have ended.
    pub iterations: u32,
    /// The resolutions that the last iteration has changed, by number.
    pub going: Vec<u32>,
    /// The communities by each resolution; empty for those that are being improved.
    pub found: Vec<Vec<u32>>,
    /// The levels of the last iteration, if they are kept.
    pub levels: Hierarchy,
    /// The level to go on from.
    pub climb: Option<Climb>,
}

/// A search, as checkpoints know it.
pub struct Saved {
    /// `leiden` or `louvain`.
    pub name: &'static str,
    /// What the answer depends on.
    pub parameters: Parameters,
    /// The number of resolutions, and the most iterations.
    pub limits: (u32, u32),
    /// How far it has come; none before it is resumed.
    pub progress: Mutex<Option<Progress>>,
}

/// Numbers that are written or read at a time.
const WORDS: usize = 1 << 14;

fn write_words(out: &mut dyn Write, words: &[u32]) -> io::Result<()> {
    for words in words.chunks(WORDS) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        out.write_all(&bytes)?;
    }
    Ok(())
}

fn write_vector(out: &mut dyn Write, words: &[u32]) -> io::Result<()> {
    write_words(out, &[words.len() as u32])?;
    write_words(out, words)
}

fn write_levels(out: &mut dyn Write, levels: &Hierarchy) -> io::Result<()> {
    write_words(out, &[levels.levels.len() as u32])?;
    levels.levels.iter().try_for_each(|(groups, count)| {
        write_words(out, &[*count])?;
        write_vector(out, groups)
    })
}

impl Progress {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write_words(out, &[self.iterations])?;
        write_vector(out, &self.going)?;
        self.found.iter().try_for_each(|found| write_vector(out, found))?;
        write_levels(out, &self.levels)?;
        let Some(climb) = &self.climb else { return write_words(out, &[0]) };
        write_words(out, &[1, climb.number as u32, climb.count, climb.moved.into(), climb.places.settled])?;
        write_vector(out, climb.places.of.as_deref().unwrap_or_default())?;
        write_vector(out, &climb.communities)?;
        write_levels(out, &climb.levels)
    }
}

/// Reads what was written, and checks every number that leads somewhere.
struct Reader<'a> {
    kept: &'a mut dyn Read,
    vertices: u32,
}

impl Reader<'_> {
    fn words(&mut self, count: usize) -> Result<Vec<u32>, String> {
        let mut words = Vec::new();
        while words.len() < count {
            let mut bytes = vec![0; 4 * WORDS.min(count - words.len())];
            self.kept.read_exact(&mut bytes).map_err(|error| error.to_string())?;
            words.extend(bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])));
        }
        Ok(words)
    }

    fn word(&mut self) -> Result<u32, String> {
        Ok(self.words(1)?[0])
    }

    /// A number of at most `most`.
    fn below(&mut self, what: &str, most: u32) -> Result<u32, String> {
        match self.word()? {
            word if word <= most => Ok(word),
            word => Err(format!("{what}: expected at most {most}, found {word}")),
        }
    }

    /// Numbers of at most `most`, one of `lengths` many.
    fn vector(&mut self, what: &str, lengths: [u32; 2], most: u32) -> Result<Vec<u32>, String> {
        let length = self.word()?;
        if !lengths.contains(&length) {
            return Err(format!("{what}: expected {} numbers, found {length}", lengths[1]));
        }
        let words = self.words(length as usize)?;
        match words.iter().find(|&&word| word > most) {
            Some(word) => Err(format!("{what}: expected numbers of at most {most}, found {word}")),
            None => Ok(words),
        }
    }

    fn levels(&mut self) -> Result<Hierarchy, String> {
        let (count, mut vertices) = (self.below("levels", self.vertices)?, self.vertices);
        let mut levels = Vec::new();
        for _ in 0..count {
            let count = self.below("groups of a level", vertices)?;
            levels.push((self.vector("groups of a level", [vertices; 2], count)?, count));
            vertices = count;
        }
        Ok(Hierarchy { levels })
    }

    fn climb(&mut self) -> Result<Climb, String> {
        let last = self.vertices - 1;
        let (number, count) = (self.below("the number of a level", last)?, self.below("vertices of a level", last)?);
        let (moved, settled) = (self.below("a flag", 1)? == 1, self.below("settled vertices", self.vertices)?);
        let of = Some(self.vector("places", [self.vertices; 2], last)?);
        let communities = self.vector("communities of a level", [count; 2], count.saturating_sub(1))?;
        let places = Places { of, vertices: self.vertices, settled };
        Ok(Climb { number: number.into(), places, count, communities, moved, levels: self.levels()? })
    }

    fn progress(&mut self, (resolutions, iterations): (u32, u32)) -> Result<Progress, String> {
        let (vertices, last) = (self.vertices, self.vertices.saturating_sub(1));
        let iterations = self.below("iterations", iterations)?;
        let length = self.below("resolutions", resolutions)?;
        let going = self.words(length as usize)?;
        if going.windows(2).any(|two| two[0] >= two[1]) || going.last().is_some_and(|&last| last >= resolutions) {
            return Err(format!("expected numbers of {resolutions} resolutions, found {going:?}"));
        }
        let mut found = Vec::new();
        for _ in 0..resolutions {
            found.push(self.vector("communities", [0, vertices], last)?);
        }
        let levels = self.levels()?;
        let climb = (self.below("a flag", u32::from(vertices > 0))? == 1).then(|| self.climb()).transpose()?;
        let is_right = |which: usize| {
            // One resolution that is on a level has no communities of the first.
            let is_there = found[which].len() as u32 == vertices;
            if climb.is_some() { resolutions == 1 && going == [0] } else { is_there }
        };
        if !(0..resolutions as usize).all(is_right) {
            return Err("communities are missing".into());
        }
        Ok(Progress { iterations, going, found, levels, climb })
    }
}

/// It has no edge function.
pub enum Never {}

impl Kernel for Never {
    type Record = ();

    fn open(&self, _list: List) -> Option<()> {
        None
    }

    fn edge(&self, (): &mut (), _neighbour: u32, _weight: u32) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

impl Algorithm for Saved {
    type Kernel<'a> = Never;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let parameters = Some(self.parameters.clone());
        Declaration { parameters, ..Declaration::new(self.name, Vec::new(), vec![(Direction::Out, Visit::All)]) }
    }

    fn kernel<'a>(&'a self, _state: &'a State, _step: &Step) -> Never {
        unreachable!("it is not run")
    }

    fn keep(&self, out: &mut dyn Write) -> io::Result<()> {
        let progress = self.progress.lock().expect("nothing panics while it is held");
        progress.as_ref().map_or(Ok(()), |progress| progress.write(out))
    }

    fn recall(&self, state: &State, _step: &Step, kept: &mut dyn Read) -> Result<(), String> {
        let progress = Reader { kept, vertices: state.graph.vertices as u32 }.progress(self.limits)?;
        *self.progress.lock().expect("nothing panics while it is held") = Some(progress);
        Ok(())
    }

    fn answers<'a>(&'a self, _state: &'a State) -> Vec<Answer<'a>> {
        Vec::new()
    }
}
