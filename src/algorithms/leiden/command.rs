//! `leiden` and `louvain`: their arguments, and their entries in the catalogue.

use super::{Clock, Leiden, Objective, Part, Partitions, Quality};
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Companion, Edges, Entry, Figure, Finished, Prepared, Runnable, Sample, Shown,
    StoreKind, Summarize, SummaryItem, UNDIRECTED, WEIGHTED,
};
use crate::engine::{Engine, Observer};
use crate::error::Result;
use crate::model::algorithm::{Algorithm, Answer};
use crate::report::RunReport;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use topostream_formats::Store;

const DETAILS: &str = "Communities have many edges within, and few between them. The answer is the same for any number \
     of threads and any order of pages; another --seed is another one. No community is disconnected. The quality is \
     recomputed from the stored edges at the end: modularity as NetworkX has it, of directed graphs by in- and \
     out-strengths, loops and repeated edges included. With one GPU as --device, levels that fit in its memory are \
     processed there, with the same bits. Levels that do not fit in memory are stores in --temporary while the run \
     lasts.";

/// Communities by Leiden's algorithm.
pub const LEIDEN: Entry = Entry {
    name: "leiden",
    aliases: &[],
    about: "Communities of high modularity, by Leiden's algorithm",
    details: DETAILS,
    source: "Traag, Waltman and van Eck, 2019",
    lists: "out",
    bytes_per_vertex: "label 4; lists in memory 60, and 20 an edge from either end (--weights 24); on disk 48 (directed \
                       72)",
    exactness: "same bits",
    oracle: "leiden",
    samples: &[
        Sample::measured("leiden", "", UNDIRECTED, "community", Edges::Once),
        Sample::tested("--resolution 0.5 --seed 7", AS_GIVEN),
        Sample::tested("--weights --iterations 2", WEIGHTED),
        Sample::tested("--objective cpm --resolution 0.02", AS_GIVEN),
    ],
    arguments: Arguments::of::<LeidenArgs<true>>(),
    graphalytics: None,
};

/// Communities by Louvain's algorithm.
pub const LOUVAIN: Entry = Entry {
    name: "louvain",
    oracle: "louvain",
    about: "Communities of high modularity, by Louvain's algorithm: leiden without refinement",
    source: "Blondel, Guillaume, Lambiotte and Lefebvre, 2008",
    samples: &[
        Sample::measured("louvain", "", UNDIRECTED, "community", Edges::Once),
        Sample::tested("--weights", WEIGHTED),
    ],
    arguments: Arguments::of::<LeidenArgs<false>>(),
    ..LEIDEN
};

/// `--objective`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ObjectiveName {
    /// Modularity
    Modularity,
    /// The constant Potts model: communities denser than the resolution
    Cpm,
}

/// The arguments of `leiden`, which refines, and of `louvain`.
#[derive(Args, Clone)]
pub struct LeidenArgs<const REFINES: bool> {
    /// How small communities are: more is smaller. Of several, such as 0.5,1,2, each is a column; they read the first
    /// level together
    #[arg(long, default_value = "1", value_name = "NUMBER", value_delimiter = ',')]
    resolution: Vec<f64>,
    /// What is maximized
    #[arg(long, default_value = "modularity", value_name = "NAME")]
    objective: ObjectiveName,
    /// Edges count by their weights; otherwise every edge counts 1
    #[arg(long)]
    weights: bool,
    /// Maximum number of iterations over all levels; one that changes nothing is the last
    #[arg(long, default_value_t = 3, value_name = "N")]
    iterations: u32,
    /// Decides between what is equal: another seed is another answer
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// The folder of levels that do not fit in memory [default: the store's folder]
    #[arg(long, value_name = "DIR")]
    temporary: Option<PathBuf>,
    /// Write the levels of the last iteration to this folder, a file each, in the format of --output-format or as
    /// Parquet: level-1 has the smallest groups, the last level the communities
    #[arg(long, value_name = "DIR")]
    levels: Option<PathBuf>,
    /// Check by the stored edges that no community is disconnected, and recompute the quality, before communities are
    /// written: reads the store once more for each resolution
    #[arg(long)]
    validate: bool,
}

impl<const REFINES: bool> LeidenArgs<REFINES> {
    fn leiden(&self) -> Leiden {
        let objective = match self.objective {
            ObjectiveName::Modularity => Objective::Modularity,
            ObjectiveName::Cpm => Objective::Cpm,
        };
        let Self { weights, iterations, seed, .. } = *self;
        let (resolutions, temporary) = (self.resolution.clone(), self.temporary.clone());
        let (refines, keeps_levels) = (REFINES, self.levels.is_some());
        let leiden = Leiden { objective, resolutions, refines, weights, iterations, seed, ..Leiden::default() };
        Leiden { temporary, keeps_levels, ..leiden }
    }
}

impl<const REFINES: bool> Command for LeidenArgs<REFINES> {
    fn check(&self) -> Result<(), String> {
        self.leiden().check().map_err(|error| error.to_string())
    }

    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(self.leiden().without_store(kind.directed))
    }

    fn prepare(&self, _store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let leiden = self.leiden();
        let told = (Arc::clone(&leiden.qualities), Arc::clone(&leiden.clock));
        let shown = summary(self.objective, leiden.resolutions.len(), told);
        let check = self.validate.then(|| Companion::CheckCommunities {
            objective: leiden.objective,
            weights: leiden.weights,
            qualities: Arc::clone(&leiden.qualities),
        });
        let levels = self.levels.clone().map(|path| Companion::Levels { path, levels: Arc::clone(&leiden.levels) });
        let prepared = Prepared::new(leiden).showing(shown).with(check).with(levels);
        Ok(prepared.with_plan_note("the search in memory is not included in the times"))
    }
}

/// Two runs over the store, and the search between them.
impl Runnable for Leiden {
    fn run(self: Box<Self>, engine: &Engine, observer: &mut Observer<'_>) -> Result<Box<dyn Finished>> {
        Ok(Box::new(Leiden::run(*self, engine, observer)?))
    }

    fn planned(self: Box<Self>, engine: &Engine) -> Result<Box<dyn Algorithm>> {
        let held_bytes = self.room(engine)?.held_bytes;
        Ok(Box::new(Leiden::planned(&self, engine.store(), held_bytes)))
    }

    /// What the last run keeps for names and quality, and the communities by other resolutions.
    fn beside_bytes(&self, store: &Store) -> u64 {
        let sides = if store.manifest().directed { 2 } else { 1 };
        (8 + 16 * sides + 4 * self.columns()) * store.vertices()
    }

    fn columns(&self) -> u64 {
        self.resolutions.len() as u64
    }

    fn needed_bytes(&self, engine: &Engine) -> Result<u64> {
        engine.needed_bytes(&Leiden::planned(self, engine.store(), self.room(engine)?.held_bytes))
    }
}

impl Finished for Partitions {
    fn report(&self) -> &RunReport {
        &self.report
    }

    fn answers(&self) -> Vec<Answer<'_>> {
        Partitions::answers(self)
    }

    fn remark(&self) -> Option<String> {
        None
    }

    fn algorithm(&self) -> &dyn Algorithm {
        self.last().algorithm()
    }
}

/// The communities, and their quality.
fn summary(
    objective: ObjectiveName,
    resolutions: usize,
    (qualities, clock): (Arc<OnceLock<Vec<Quality>>>, Arc<Clock>),
) -> Shown {
    let name = match objective {
        ObjectiveName::Modularity => "modularity",
        ObjectiveName::Cpm => "quality",
    };
    let items: Summarize = Box::new(move |_, _| {
        let qualities = qualities.get().map_or(&[][..], Vec::as_slice);
        let (mut items, mut figures) = (Vec::new(), Vec::new());
        match qualities {
            [quality] => figures.push((name, Figure::F64(quality.value))),
            _ => {
                let figures = |of: &Quality| vec![Figure::Integer(of.communities), Figure::F64(of.value)];
                let rows = qualities.iter().map(|of| (of.resolution.to_string(), figures(of))).collect();
                let header = ["resolution", "communities", name].map(Into::into).into();
                items.push(SummaryItem::Table { header, rows });
            }
        }
        figures.push(("disconnected", Figure::Integer(0)));
        let levels = qualities.first().map_or(0, |quality| quality.levels_on_disk);
        if levels > 0 {
            figures.push(("levels on disk", Figure::Integer(levels.into())));
        }
        let times = Part::ALL.map(|(part, name)| (name, clock.seconds(part))).into_iter();
        // What takes less says nothing.
        let times = times.filter(|(_, seconds)| *seconds >= 0.001).map(|(name, seconds)| (name, Figure::F64(seconds)));
        items.extend([SummaryItem::Figures(figures), SummaryItem::Figures(times.collect())]);
        items
    });
    match resolutions {
        1 => Shown::Groups("communities", Some(items)),
        _ => Shown::Own(items),
    }
}
