//! `leiden` and `louvain`: their arguments, and their entries in the catalogue.

use super::{Clock, Leiden, Objective, Part, Quality};
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Edges, Entry, Figure, Finished, Prepared, Runnable, Sample, Shown, StoreKind,
    Summarize, SummaryItem, UNDIRECTED, WEIGHTED,
};
use crate::engine::{Engine, Observer};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use topostream_formats::Store;

const DETAILS: &str = "Communities have many edges within, and few between them. The answer is the same for any number \
     of threads and any order of pages; another --seed is another one. No community is disconnected. The quality is \
     recomputed from the stored edges at the end: modularity as NetworkX has it, of directed graphs by in- and \
     out-strengths, loops and repeated edges included. Levels that do not fit in memory are stores in --temporary while \
     the run lasts.";

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
    /// How small communities are: more is smaller
    #[arg(long, default_value_t = 1.0, value_name = "NUMBER")]
    resolution: f64,
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
    /// The folder of levels that do not fit in memory [default: that of the store]
    #[arg(long, value_name = "DIR")]
    temporary: Option<PathBuf>,
}

impl<const REFINES: bool> LeidenArgs<REFINES> {
    fn leiden(&self) -> Leiden {
        let objective = match self.objective {
            ObjectiveName::Modularity => Objective::Modularity,
            ObjectiveName::Cpm => Objective::Cpm,
        };
        let Self { resolution, weights, iterations, seed, .. } = *self;
        let temporary = self.temporary.clone();
        Leiden { objective, resolution, refines: REFINES, weights, iterations, seed, temporary, ..Leiden::default() }
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
        let shown = summary(self.objective, Arc::clone(&leiden.quality), Arc::clone(&leiden.clock));
        Ok(Prepared::new(leiden).showing(shown).with_plan_note("the search in memory is not included in the times"))
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

    fn needed_bytes(&self, engine: &Engine) -> Result<u64> {
        engine.needed_bytes(&Leiden::planned(self, engine.store(), self.room(engine)?.held_bytes))
    }
}

/// The communities, and their quality.
fn summary(objective: ObjectiveName, quality: Arc<OnceLock<Quality>>, clock: Arc<Clock>) -> Shown {
    let name = match objective {
        ObjectiveName::Modularity => "modularity",
        ObjectiveName::Cpm => "quality",
    };
    let items: Summarize = Box::new(move |_, _| {
        let quality = quality.get().copied().unwrap_or_default();
        let mut figures = vec![(name, Figure::F64(quality.value)), ("disconnected", Figure::Integer(0))];
        if quality.levels_on_disk > 0 {
            figures.push(("levels on disk", Figure::Integer(quality.levels_on_disk.into())));
        }
        let times = Part::ALL.map(|(part, name)| (name, clock.seconds(part))).into_iter();
        let times = times.filter(|(_, seconds)| *seconds > 0.0).map(|(name, seconds)| (name, Figure::F64(seconds)));
        vec![SummaryItem::Figures(figures), SummaryItem::Figures(times.collect())]
    });
    Shown::Groups("communities", Some(items))
}
