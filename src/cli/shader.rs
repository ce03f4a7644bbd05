//! `topostream shader`: a module as a GPU would be given it, and the plan of a superstep.

use super::args::{EncodingName, page_size};
use super::failure::{Failure, Outcome, usage_text};
use super::printing::print;
use crate::algorithms::CATALOGUE;
use crate::algorithms::command::{Entry, StoreKind, find};
use crate::device::gpu::compose::{Declared, KernelName, ModuleOptions, check, compose};
use crate::device::gpu::{PlanOf, plan_text};
use crate::model::algorithm::{Algorithm, Declaration};
use crate::store::Direction;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use topostream_formats::edge::WeightType;

/// Print the validated WGSL module of one kernel of one algorithm. shaders/README.md explains it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PrintShader {
    /// The algorithm
    #[arg(value_parser = names())]
    algorithm: String,
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
    /// Arguments of `run` on which the shader may depend; those that `run` requires may be missing
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
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
  topostream shader bfs lists --encoding packed -- --parents";

/// The name of an algorithm of the catalogue.
fn names() -> PossibleValuesParser {
    let name = |entry: &&Entry| PossibleValue::new(entry.name).aliases(entry.aliases.iter().copied());
    PossibleValuesParser::new(CATALOGUE.iter().map(name))
}

impl PrintShader {
    /// The algorithm, for a store as the options describe it. What its arguments lack comes from its first sample.
    ///
    /// # Errors
    /// The parser's, of which one is the help of the algorithm's arguments.
    fn algorithm(&self) -> Result<Box<dyn Algorithm>, clap::Error> {
        let entry = find(&self.algorithm).expect("clap takes these names only");
        let words = || self.arguments.iter().map(String::as_str);
        let sample = entry.samples[0].arguments.split_whitespace();
        let parsed = entry.arguments.read(words());
        let parsed = parsed.or_else(|error| entry.arguments.read(sample.chain(words())).map_err(|_| error));
        let of = if self.float_weights { WeightType::F32 } else { WeightType::U32 };
        let kind = StoreKind {
            vertices: self.vertices,
            directed: !self.undirected,
            in_lists: self.in_lists,
            weights: (self.weights || self.float_weights).then_some(of),
        };
        Ok(parsed?.shader(&kind))
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
        let algorithm = match self.algorithm() {
            Ok(algorithm) => algorithm,
            Err(help) if !help.use_stderr() => return print(&help.render().to_string()),
            Err(error) => return Err(Failure::Usage(usage_text(&error))),
        };
        let direction = if self.in_lists { Direction::In } else { Direction::Out };
        let declaration = algorithm.declare(self.in_lists);
        let declared = Declared::of_declaration(&*algorithm, &declaration);
        let unshaded = || Failure::Usage(format!("{} has no shader with these arguments", self.algorithm));
        let declared = declared.ok_or_else(unshaded)?;
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
