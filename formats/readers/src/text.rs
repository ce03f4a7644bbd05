//! Plain edge lists: `source dest [weight]` a line.
//!
//! Columns are separated by blanks, tabs or a comma; lines that begin with `#` or `%` are comments, as in SNAP's files.
//! A word that begins with `#` begins a comment too. All lines have as many columns as the first. A third column is the
//! weight; in SNAP's temporal graphs it is the time stamp ([`Ignore`](crate::WeightsOption::Ignore) drops it). Ids have
//! no leading zeros: with them they are names, and the file a table. The graph is directed, and its vertices are the
//! endpoints of edges.
//!
//! GAP's `.el` and `.wel` have the same format, but their vertices are all ids from 0 to the largest.

use crate::blocks::Blocks;
use crate::file::InputFile;
use crate::headers::{Headed, Header, id_space};
use crate::lines::{LineSource, Promise};
use crate::options::Options;
use crate::plain::Columns;
use topostream_formats::edge::{EdgeSource, IdSpace};
use topostream_formats::error::Result;

/// Opens a plain edge list with ids in `ids`.
pub(super) fn open(file: &InputFile, options: &Options, ids: IdSpace) -> Result<Box<dyn EdgeSource>> {
    let mut blocks = Blocks::open(file, options.memory_bytes)?;
    let header = Header::read(file, &mut blocks, options)?;
    let ids = id_space(&header, ids);
    let columns = match header.columns(&mut blocks, options)? {
        Some(columns) => columns,
        None => Columns::look_ahead(&mut blocks, options.weights, ids)?,
    };
    let mut info = blocks.input().info(ids, columns.weight);
    if header.is_empty() {
        return Ok(Box::new(LineSource::new(info, blocks, columns, None)));
    }
    header.apply(&mut info);
    let says = "as the first row says (--no-header reads that row as an edge)";
    let promise = header.sizes().map(|sizes| Promise { edges: sizes.edges, says });
    Ok(Box::new(LineSource::new(info, blocks, Headed { columns, header }, promise)))
}
