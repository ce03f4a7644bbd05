//! Matrix Market files of coordinates.

use super::graph::Export;
use crate::cli::failure::Failure;
use crate::cli::output::OutputFile;
use crate::cli::tables;
use std::io::{Error, Write};
use std::path::Path;

pub fn write(export: &mut Export<'_>, path: &Path) -> Result<String, Failure> {
    let file = OutputFile::create(path)?;
    let numbering = export.numbering();
    let mut edges = 0;
    export.each_chunk(|chunk| {
        edges += chunk.len() as u64;
        Ok(())
    })?;
    let (directed, weights, cancel) = (export.directed, export.weights, export.cancel);
    let field = match weights {
        None => "pattern",
        Some(of) if of.is_float() => "real",
        Some(_) => "integer",
    };
    let bytes = file.write(cancel, |out| {
        let symmetry = if directed { "general" } else { "symmetric" };
        writeln!(out, "%%MatrixMarket matrix coordinate {field} {symmetry}")?;
        writeln!(out, "{0} {0} {edges}", numbering.count())?;
        let written = export.each_chunk(|chunk| {
            for edge in chunk {
                let [row, column] = [edge.source, edge.dest].map(|id| numbering.number(id) + 1);
                // Of a symmetric matrix, the lower triangle is stored.
                let (row, column) = if directed { (row, column) } else { (row.max(column), row.min(column)) };
                match weights {
                    None => writeln!(out, "{row} {column}")?,
                    Some(of) => writeln!(out, "{row} {column} {}", of.text(edge.weight))?,
                }
            }
            Ok(())
        });
        written.map_err(|failure| Error::other(failure.to_string()))
    })?;
    let rows = tables::counted(numbering.count(), "row");
    let (entries, bytes) = (tables::counted(edges, "entry"), tables::bytes(bytes));
    Ok(format!("{}: {rows} in ascending order of ids, {entries}, {bytes}\n", path.display()))
}
