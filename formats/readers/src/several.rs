//! Several files of one kind, read one after another.

use super::{InputFile, Kind, Options};
use topostream_formats::edge::{Edge, EdgeSource, IdSpace, Rounding, SourceInfo, WeightType};
use topostream_formats::error::{Error, Result};

/// The edges of several files.
struct Several {
    files: Vec<InputFile>,
    options: Options,
    current: Box<dyn EdgeSource>,
    next: usize,
    done_bytes: u64,
    /// That of the files before.
    done_rounding: Rounding,
    info: SourceInfo,
    note: Option<String>,
}

/// Opens several files as one list. Only kinds whose files have nothing but edges can be joined.
pub(super) fn open(files: &[InputFile], kind: Kind, options: &Options) -> Result<Box<dyn EdgeSource>> {
    let path = files[0].path().display();
    if !matches!(kind, Kind::Text | Kind::GapText | Kind::RawU32 | Kind::RawU64) {
        return Err(Error::Invalid(format!(
            "{path}: of the kind {kind} only one file can be read: each has a header for a whole graph"
        )));
    }
    // All weights must be of one type: the widest of what the files begin with.
    let (mut weights, mut options) = (Vec::new(), options.clone());
    let mut header = None;
    for file in files {
        let source = super::open_file(file, &options)?;
        weights.push(source.info().weights);
        let stated = (source.info().ids, source.info().directed, source.info().mirror, source.note());
        if header.get_or_insert_with(|| stated.clone()) != &stated || matches!(stated.0, IdSpace::Range { .. }) {
            let is = |note: Option<String>| note.filter(|note| !note.is_empty()).unwrap_or("no header".into());
            let expected = format!("files of one list without headers, or with the same as in {path}");
            return Err(Error::file(file.path(), expected, is(stated.3)));
        }
    }
    if let Some(place) = weights.iter().position(|of| of.is_some() != weights[0].is_some()) {
        let is = |of: Option<WeightType>| if of.is_some() { "weights" } else { "no weights" };
        let expected = format!("{}, as in {path}", is(weights[0]));
        return Err(Error::file(files[place].path(), expected, is(weights[place])));
    }
    if weights.contains(&Some(WeightType::F32)) {
        options.weights = super::WeightsOption::As(WeightType::F32);
    }
    let current = super::open_file(&files[0], &options)?;
    let mut info = current.info().clone();
    info.bytes = files.iter().map(InputFile::bytes).sum::<Result<Option<u64>>>()?;
    info.edges = None;
    info.name = format!("{} and {} more", info.name, files.len() - 1);
    let note = current.note();
    Ok(Box::new(Several {
        files: files.to_vec(),
        options,
        current,
        next: 1,
        done_bytes: 0,
        done_rounding: Rounding::default(),
        info,
        note,
    }))
}

impl EdgeSource for Several {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        loop {
            self.current.read(chunk)?;
            if !chunk.is_empty() || self.next == self.files.len() {
                return Ok(());
            }
            self.done_bytes += self.current.bytes_read();
            self.done_rounding = self.done_rounding.and(self.current.rounding());
            self.current = super::open_file(&self.files[self.next], &self.options)?;
            self.next += 1;
        }
    }

    fn place(&self) -> String {
        self.current.place()
    }

    fn place_of(&self, index: usize, edge: &Edge) -> String {
        self.current.place_of(index, edge)
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }

    fn rounding(&self) -> Rounding {
        self.done_rounding.and(self.current.rounding())
    }

    fn is_read_once(&self) -> bool {
        self.current.is_read_once()
    }

    fn bytes_read(&self) -> u64 {
        self.done_bytes + self.current.bytes_read()
    }

    fn memory_bytes(&self) -> u64 {
        self.current.memory_bytes()
    }
}
