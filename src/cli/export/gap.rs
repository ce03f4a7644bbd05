//! Serialized graphs of the GAP Benchmark Suite, as `topostream_readers` describes them.

use super::graph::Export;
use super::lists::{Direction, Lists};
use crate::cli::failure::Failure;
use crate::cli::output::OutputFile;
use crate::cli::tables;
use std::io::{self, Write};
use std::path::Path;
use topostream_formats::edge::WeightType;

pub fn write(export: &mut Export<'_>, path: &Path, weighted: bool) -> Result<String, Failure> {
    check(export, path, weighted)?;
    let file = OutputFile::create(path)?;
    let numbering = export.numbering();
    if numbering.count() > 1 << 31 {
        let found = tables::count(numbering.count());
        return Err(Export::refused(format!(
            "{}: a serialized graph has at most 2^31 vertices, not {found}",
            path.display()
        )));
    }
    let out = Lists::count(export, &numbering, Direction::Out)?;
    if weighted && out.weight_max > i32::MAX as u32 {
        let weight = out.weight_max;
        return Err(Export::refused(format!("{}: the weight {weight} does not fit in 31 bits", path.display())));
    }
    let directed = export.directed;
    let back = directed.then(|| Lists::count(export, &numbering, Direction::In)).transpose()?;
    let edges = out.entries();
    let bytes = file.write(export.cancel, |to| {
        to.write_all(&[u8::from(directed)])?;
        to.write_all(&edges.to_le_bytes())?;
        to.write_all(&numbering.count().to_le_bytes())?;
        std::iter::once(&out).chain(&back).try_for_each(|lists| write_lists(to, export, lists, weighted))
    })?;
    let (name, vertices) = (path.display(), tables::counted(numbering.count(), "vertex"));
    let (entries, bytes) = (tables::counted(edges, "list entry"), tables::bytes(bytes));
    Ok(format!("{name}: {vertices} in ascending order of ids, {entries}, {bytes}\n"))
}

/// Whether weights are as the file needs them.
fn check(export: &Export<'_>, path: &Path, weighted: bool) -> Result<(), Failure> {
    let place = path.display();
    match (weighted, export.weights) {
        (false, None) | (true, Some(WeightType::U32)) => Ok(()),
        (false, Some(_)) => {
            Err(Export::refused(format!("{place}: .sg has no place for weights; write .wsg or .parquet")))
        }
        (true, None) => Err(Export::refused(format!("{place}: .wsg needs weights, but the graph has none; write .sg"))),
        (true, Some(of)) => Err(Export::refused(format!(
            "{place}: weights of .wsg are integers of 32 bits, those of the graph {}; write .parquet",
            of.name()
        ))),
    }
}

fn write_lists(to: &mut impl Write, export: &mut Export<'_>, lists: &Lists<'_>, weighted: bool) -> io::Result<()> {
    lists.offsets.iter().try_for_each(|offset| to.write_all(&offset.to_le_bytes()))?;
    let written = lists.each_part(export, |part| {
        part.iter().try_for_each(|[_, neighbour, weight]| {
            to.write_all(&neighbour.to_le_bytes())?;
            if weighted { to.write_all(&weight.to_le_bytes()) } else { Ok(()) }
        })
    });
    written.map_err(|failure| io::Error::other(failure.to_string()))
}

/// Numbers follow the order of ids.
#[cfg(test)]
mod tests {
    use crate::cli::export::numbering::Numbering;

    #[test]
    fn vertices_are_numbered_from_zero() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = crate::store::StoreBuilder::from_edges([(10, 20), (20, 70)]).create(&path).unwrap();
        let ids = store.ids().unwrap();
        let vertices = (0..store.vertices()).map(|vertex| crate::store::VertexId(vertex as u32));
        let numbering = Numbering::new(vertices, &ids);
        assert_eq!([10, 20, 70].map(|id| numbering.number(id)), [0, 1, 2]);
        assert_eq!((numbering.count(), numbering.ids()), (3, &[10, 20, 70][..]));
    }
}
