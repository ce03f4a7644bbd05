//! Opens one file, as its kind.

use crate::adjacency;
use crate::archive::resolve;
use crate::dimacs;
use crate::directed::Directed;
use crate::file::InputFile;
use crate::gap_binary;
use crate::graphalytics;
use crate::headers::Header;
use crate::kind::Kind;
use crate::matrix_market;
use crate::metis;
use crate::narrow::narrowed;
use crate::options::Options;
use crate::pajek;
use crate::raw;
use crate::recognise::{check_named, of_file};
use crate::table::{self as tables, Opened, TableOptions};
use crate::text;
use std::path::Path;
use topostream_formats::edge::{EdgeSource, IdSpace};
use topostream_formats::error::{Error, Result};

/// Opens the edge list at `path`, as its kind or as the kind that `options` names.
///
/// # Errors
/// If the kind is not recognised, or the file's header is invalid.
pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Box<dyn EdgeSource>> {
    open_file(&InputFile::new(path), options)
}

/// Opens an edge list that may be a pipe. Clones of a file can be opened again, a pipe only if it was copied.
///
/// # Errors
/// The errors of [`open`]; if a pipe that was not copied is opened a second time.
pub fn open_file(file: &InputFile, options: &Options) -> Result<Box<dyn EdgeSource>> {
    let file = &resolve(file)?;
    let kind = match options.kind {
        Some(kind) => check_named(file, kind).map(|()| kind)?,
        None => of_file(file)?,
    };
    let source = open_kind(file, kind, options)?;
    Ok(if options.directed { Box::new(Directed::new(source)) } else { source })
}

fn open_kind(file: &InputFile, kind: Kind, options: &Options) -> Result<Box<dyn EdgeSource>> {
    let source = match kind {
        Kind::Text => text::open(file, options, IdSpace::Named),
        Kind::GapText => text::open(file, options, IdSpace::UpToLargest),
        Kind::MatrixMarket => matrix_market::open(file, options),
        Kind::Dimacs => dimacs::open(file, options),
        Kind::Metis => metis::open(file, options),
        Kind::Pajek => pajek::open(file, options),
        Kind::Adjacency => adjacency::open(file, options),
        Kind::GapBinary => gap_binary::open(file, options),
        Kind::Graphalytics => graphalytics::open(file, options),
        Kind::RawU32 => raw::open(file, options, 4),
        Kind::RawU64 => raw::open(file, options, 8),
        // Tables narrow weights themselves.
        Kind::Csv | Kind::Parquet | Kind::Arrow | Kind::GraphMl => {
            let header = if kind == Kind::Csv { Header::of_table(file, options)? } else { Header::default() };
            let (files, table) = (std::slice::from_ref(file), TableOptions::default());
            return match tables::open(files, kind, &header, options, &table)? {
                Opened::Numbers(source, _) => Ok(source),
                Opened::Names(table) => {
                    Err(Error::file(file.path(), "ids that are integers", table.id_type().plural()))
                }
            };
        }
    };
    Ok(narrowed(source?))
}
