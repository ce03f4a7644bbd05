//! `topostream shader`: a module as a GPU would be given it, and the plan of a superstep.

use super::args::{EncodingName, page_size};
use super::failure::{Failure, Outcome};
use super::printing::print;
use crate::algorithms::CATALOGUE;
use crate::algorithms::command::{Entry, ON, Switch, Variation, find};
use crate::device::gpu::compose::{Declared, KernelName, ModuleOptions, check, compose};
use crate::device::gpu::{PlanOf, plan_text};
use crate::model::algorithm::Declaration;
use crate::store::Direction;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::collections::BTreeMap;
use topostream_formats::edge::WeightType;

/// Print the validated WGSL module of one kernel of one algorithm. shaders/README.md explains it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PrintShader {
    #[command(flatten)]
    named: Named,
    /// The kernel: lists, segments, hubs, inflate-slots, inflate, initialise, vertex-phase, census, next-pages, defer,
    /// fill, merge, collect, ship or apply
    #[arg(required_unless_present = "plan")]
    kernel: Option<KernelName>,
    /// Print what a superstep does on a device instead, over pages that are: streamed, or all in device memory, and
    /// paced by the host, run by the device alone, or joint with other devices
    #[arg(long, value_name = "RESIDENCY", conflicts_with = "kernel")]
    plan: Option<PlanOf>,
    /// How neighbours are written
    #[arg(long, default_value = "vertex-id", value_name = "ENCODING")]
    encoding: EncodingName,
    /// The size of a page
    #[arg(long, default_value = "1MiB", value_parser = page_size, value_name = "SIZE")]
    page_size: u32,
    /// Over a store with weights; algorithms that need them always are
    #[arg(long)]
    weights: bool,
    /// Over a store with weights that are f32, not whole
    #[arg(long)]
    float_weights: bool,
    /// Of an undirected graph
    #[arg(long)]
    undirected: bool,
    /// Over in-lists, for algorithms that read them
    #[arg(long)]
    in_lists: bool,
    /// Over lists that are grouped for shards
    #[arg(long)]
    grouped: bool,
    /// Vertices of the graph
    #[arg(
        long,
        default_value_t = 1 << 20,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=1 << 32)
    )]
    vertices: u64,
    /// A buffer holds the values of 2^N vertices
    #[arg(long, default_value_t = 28, value_name = "N", value_parser = clap::value_parser!(u32).range(5..=32))]
    chunk_log2: u32,
    /// For pages that are read in place in main memory
    #[arg(long)]
    in_place: bool,
    /// For one of several devices that partition the attributes written by edges
    #[arg(long)]
    sharded: bool,
    /// With --sharded, for a device that holds no values but of its own vertices and of those with edges to them
    #[arg(long, requires = "sharded")]
    bordering: bool,
    /// For devices that add floats atomically
    #[arg(long, help_heading = "Device")]
    float_atomics: bool,
    /// For devices that add 64-bit integers atomically
    #[arg(long, help_heading = "Device")]
    wide_integers: bool,
    /// For devices whose driver ends long loops early
    #[arg(long, help_heading = "Device")]
    loops_limited: bool,
    /// For devices with subgroup operations
    #[arg(long, help_heading = "Device")]
    subgroups: bool,
}

const EXAMPLES: &str = "\
Examples:
  topostream shader pagerank segments --in-lists
  topostream shader bfs --plan alone
  topostream shader bfs lists --encoding packed --parents";

/// An algorithm of the catalogue, and the switches of its shader.
struct Named {
    entry: &'static Entry,
    switches: Vec<(&'static str, &'static str)>,
}

/// Every switch of the catalogue once, with the algorithms that have it.
fn all_switches() -> BTreeMap<&'static str, (&'static Switch, Vec<&'static str>)> {
    let mut all = BTreeMap::new();
    for (entry, switch) in CATALOGUE.iter().flat_map(|entry| entry.switches.iter().map(move |switch| (entry, switch))) {
        all.entry(switch.name).or_insert((switch, Vec::new())).1.push(entry.name);
    }
    all
}

/// The algorithm of a name, perhaps with a switch that is on.
fn named(name: &str) -> Option<(&'static Entry, Option<&'static str>)> {
    let renamed = |&&entry: &&&'static Entry| {
        let switch = entry.switches.iter().find(|switch| switch.renames == Some(name))?;
        Some((entry, Some(switch.name)))
    };
    find(name).map(|entry| (entry, None)).or_else(|| CATALOGUE.iter().find_map(|entry| renamed(&entry)))
}

/// Every name that is listed.
fn names() -> impl Iterator<Item = PossibleValue> {
    let renamed = |entry: &&Entry| entry.switches.iter().filter_map(|switch| switch.renames).map(PossibleValue::new);
    let name = |entry: &&Entry| PossibleValue::new(entry.name).aliases(entry.aliases.iter().copied());
    CATALOGUE.iter().flat_map(move |entry| std::iter::once(name(entry)).chain(renamed(entry)))
}

impl Args for Named {
    fn augment_args(command: Command) -> Command {
        let algorithm = Arg::new("algorithm").required(true).value_name("ALGORITHM").help("The algorithm");
        let command = command.arg(algorithm.value_parser(PossibleValuesParser::new(names())));
        let switch = |(name, (switch, of)): (&'static str, (&'static Switch, Vec<&'static str>))| {
            let arg = Arg::new(name).long(name).help(format!("{} ({})", switch.help, of.join(", ")));
            match switch.values {
                [] => arg.action(ArgAction::SetTrue),
                values => arg.value_parser(PossibleValuesParser::new(values)).default_value(values[0]),
            }
        };
        command.args(all_switches().into_iter().map(switch))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Named {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let name: &String = matches.get_one("algorithm").expect("it is required");
        let (entry, renamed) = named(name).expect("clap takes these names only");
        let mut switches: Vec<(&str, &str)> = renamed.iter().map(|&name| (name, ON)).collect();
        for switch in entry.switches {
            match switch.values {
                [] if matches.get_flag(switch.name) => switches.push((switch.name, ON)),
                [] => {}
                values => {
                    let value: &String = matches.get_one(switch.name).expect("it has a default");
                    switches.extend(values[1..].iter().find(|of| *of == value).map(|&value| (switch.name, value)));
                }
            }
        }
        Ok(Self { entry, switches })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl PrintShader {
    /// The algorithm, for a store as the arguments describe it.
    fn variation(&self) -> Variation {
        let of = if self.float_weights { WeightType::F32 } else { WeightType::U32 };
        Variation {
            vertices: self.vertices,
            directed: !self.undirected,
            in_lists: self.in_lists,
            weights: (self.weights || self.float_weights).then_some(of),
            switches: self.named.switches.clone(),
        }
    }

    fn print_plan(&self, declared: &Declared, declaration: &Declaration) -> Outcome {
        let of = self.plan.expect("clap asks for a kernel otherwise");
        let text = plan_text(declared, &declaration.visits, self.undirected, of);
        if text.is_empty() {
            return Err(Failure::Usage(format!("--plan: {} has no such supersteps", declaration.name)));
        }
        print(&text)
    }

    pub fn run(self) -> Outcome {
        let algorithm = (self.named.entry.shader)(&self.variation());
        let direction = if self.in_lists { Direction::In } else { Direction::Out };
        let declaration = algorithm.declare(self.in_lists);
        let declared = Declared::of_declaration(&*algorithm, &declaration);
        let declared = declared.expect("algorithms of the program have shaders");
        let Some(kernel) = self.kernel else { return self.print_plan(&declared, &declaration) };
        // What most supersteps visit comes last.
        let visit = declaration.visits.iter().rfind(|visit| visit.0 == direction);
        let unread = || Failure::Usage(format!("--in-lists: {} reads out-lists only", declaration.name));
        let encoding = self.encoding.with(self.page_size)?;
        let options = ModuleOptions {
            encoding,
            page_bytes: self.page_size,
            weights: self.weights || declaration.weights.are_read(),
            direction,
            visit: visit.ok_or_else(unread)?.1,
            grouped: self.grouped,
            attribute_chunk_vertices_log2: self.chunk_log2,
            vertices: self.vertices,
            sharded: self.sharded,
            held_vertices: self.vertices,
            bordering: self.bordering.then_some(self.vertices),
            float_atomics: self.float_atomics,
            wide_integers: self.wide_integers,
            in_place: self.in_place,
            unpacks: self.in_place && encoding.is_packed(),
            loops_limited: self.loops_limited,
            subgroups: self.subgroups,
            levels: 0,
            clears: false,
            lists: false,
            tabled: false,
        };
        let module = compose(&declared, kernel, &options);
        check(&module).map_err(|error| Failure::Other(error.to_string()))?;
        print(&module.text)
    }
}
