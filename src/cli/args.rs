//! Arguments that several commands share, and how their values are read.

use super::failure::Failure;
use super::memory::memory_bytes;
use super::ranks;
use super::tuning::Tuning;
pub use crate::algorithms::command::size;
use crate::device::DeviceChoice;
use crate::engine::EngineOptions;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;
use topostream_formats::encoding::PLAIN_PAGES;
use topostream_formats::page::{PAGE_BYTES_DEFAULT, PAGE_BYTES_MAX, PAGE_BYTES_MIN};
use topostream_formats::shard::SHARDS_MAX;
use topostream_formats::write::Layout;
use topostream_formats::{Encoding, VertexOrder};
use topostream_tools::format::{Balance, FormatOptions, IdPolicy, OrderFrom, Repeated};
use topostream_tools::progress::Cancel;

/// The options whose value is an original id, which may begin with `-`.
const ID_OPTIONS: [&str; 4] = ["--source", "--target", "--ego", "--input"];
/// The options of one letter that the same commands have.
const SHORT_OPTIONS: [&str; 4] = ["-h", "-o", "-q", "-v"];

/// Joins options with ids that begin with `-`, which clap would take for options: `--source -41292` becomes
/// `--source=-41292`. A word with two dashes, or an option of one letter, stays an option: as an id it has to be joined
/// already.
pub fn with_ids_joined(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let (mut joined, mut words) = (Vec::new(), words.into_iter().peekable());
    while let Some(mut word) = words.next() {
        let is_last = word == "--";
        let takes_id = ID_OPTIONS.iter().any(|option| word == *option);
        if let Some(id) = words.next_if(|next| takes_id && is_id(next)) {
            word.push("=");
            word.push(id);
        }
        joined.push(word);
        if is_last {
            joined.extend(words.by_ref());
        }
    }
    joined
}

static WORDS: OnceLock<Vec<String>> = OnceLock::new();

/// Keeps the words of the command line for reports: in a process of Python these are not the process's own.
pub fn keep_words(words: &[OsString]) {
    WORDS.set(words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()).ok();
}

/// The command line without the name of the program; empty if there is none.
pub fn words() -> &'static [String] {
    WORDS.get().map_or(&[], Vec::as_slice)
}

/// Whether a word begins with `-` and is no option.
fn is_id(word: &OsString) -> bool {
    let bytes = word.as_encoded_bytes();
    let dashes = bytes.iter().take_while(|&&byte| byte == b'-').count();
    dashes == 1 && bytes.len() > 1 && !SHORT_OPTIONS.iter().any(|option| word == *option)
}

/// Reads the size of a page.
pub fn page_size(text: &str) -> Result<u32, String> {
    let bytes = u32::try_from(size(text)?).ok();
    bytes
        .filter(|bytes| bytes.is_power_of_two() && (PAGE_BYTES_MIN..=PAGE_BYTES_MAX).contains(bytes))
        .ok_or_else(|| "must be a power of two from 64KiB to 64MiB".into())
}

/// How a store is laid out.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Store")]
pub struct StoreArgs {
    /// Main memory for making the store, as a hard limit [default: half of the available memory of the
    /// machine or container]
    #[arg(long, value_parser = size, value_name = "SIZE")]
    memory: Option<u64>,
    /// The size of a page: a power of two from 64KiB to 64MiB [default: 1MiB]
    #[arg(long, value_parser = page_size, value_name = "SIZE", hide_short_help = true)]
    page_size: Option<u32>,
    /// Encoding of neighbours
    #[arg(long, default_value = "packed", value_name = "ENCODING", hide_short_help = true)]
    encoding: EncodingName,
    /// Store in-lists too: pull PageRank and bottom-up BFS read them
    #[arg(long)]
    in_edges: bool,
    /// Add the reverse of every edge; the graph becomes undirected
    #[arg(long)]
    symmetrize: bool,
    /// Keep one of several edges with the same ends (the one with the smallest weight)
    #[arg(long)]
    remove_duplicates: bool,
    /// Merge edges with the same ends into one, with the sum, smallest, largest or first of their weights. With
    /// `--symmetrize`, both directions are merged
    #[arg(long, value_name = "RULE", conflicts_with = "remove_duplicates")]
    repeated: Option<RepeatedName>,
    /// Drop edges from a vertex to itself
    #[arg(long)]
    remove_self_loops: bool,
    /// How the store numbers vertices; results always have original ids
    #[arg(long, default_value = "auto", value_name = "ORDER")]
    order: OrderName,
    /// Number vertices in the order of a file: original ids, one a line, or raw little-endian ids (.u32, .u64).
    /// Vertices that it does not list follow, by original id
    #[arg(long, value_name = "FILE", conflicts_with = "order", hide_short_help = true)]
    order_file: Option<PathBuf>,
    /// Group out-lists by destination range, one partition per device: 1 to 256
    #[arg(
        hide_short_help = true,
        long,
        default_value_t = 1,
        value_name = "K",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(SHARDS_MAX))
    )]
    shards: u32,
    /// With `--shards`: quantity to balance
    #[arg(long, default_value = "both", value_name = "FIGURE", hide_short_help = true)]
    balance: BalanceName,
    /// With `--shards`: a weight for each, where machines or devices differ, such as 1,1,2 [default: equal]
    #[arg(long, value_name = "WEIGHTS", value_delimiter = ',', hide_short_help = true)]
    shard_weights: Vec<f64>,
    /// With `--shards`: make only this part of the store, from 0, for a machine of a cluster
    #[arg(long, value_name = "P", hide_short_help = true)]
    part: Option<u32>,
    /// Note for each vertex which of 32 ranges its edges lead to, in 4 bytes: devices and machines that share a run
    /// then send each other only the values that they read
    #[arg(long, hide_short_help = true)]
    mirrors: bool,
    /// Which ids become vertices: auto, keep (0 to the largest), compact (only those that occur), or a number (all
    /// below it)
    #[arg(long, default_value = "auto", value_parser = ids, value_name = "RULE", hide_short_help = true)]
    ids: IdPolicy,
    /// Another directory to stripe pages over, best on another SSD; may be repeated
    #[arg(long = "stripe", value_name = "DIR", hide_short_help = true)]
    stripes: Vec<PathBuf>,
    /// Where temporary files go [default: the store's own directory]
    #[arg(long, value_name = "DIR")]
    temporary: Option<PathBuf>,
    /// Replace the store that is there, once the new one is complete; a folder with other files is still refused
    #[arg(long, visible_alias = "force")]
    overwrite: bool,
}

/// Encoding of neighbours.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum EncodingName {
    /// 32-bit vertex ids
    VertexId,
    /// Compressed: bit-packed gaps, about half the bytes
    Packed,
}

impl EncodingName {
    /// The encoding, for pages of this size.
    pub fn with(self, page_bytes: u32) -> Result<Encoding, Failure> {
        match self {
            Self::Packed => Ok(Encoding::packed(page_bytes, PLAIN_PAGES)?),
            Self::VertexId => Ok(Encoding::VertexId),
        }
    }
}

/// The weight of one edge in the place of several.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RepeatedName {
    /// The sum of all weights; one that the type of the weights does not hold is an error
    Sum,
    /// The smallest
    Min,
    /// The largest
    Max,
    /// The weight of the first edge in the input; for weights of 32 bits only
    First,
}

/// What shards have equal shares of.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum BalanceName {
    /// Vertices and edges: no shard has much more than twice its share of either
    Both,
    /// Edges into them
    Edges,
    /// Vertices
    Vertices,
    /// Bytes of edges on disk, as estimated
    Bytes,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderName {
    /// By degree-groups if a sample of lists shows that it makes a packed store smaller, otherwise natural; also
    /// chooses how dense lists and lists of close neighbours are packed
    Auto,
    /// By original id
    Natural,
    /// By descending degree
    Degree,
    /// By descending power of two of the degree, by original id within each: small packed stores
    DegreeGroups,
    /// Breadth-first from the vertex of highest degree: for road networks and meshes; needs the neighbours of all
    /// vertices in memory, 8 bytes an edge and 32 a vertex
    Bfs,
    /// Vertices with out-edges first
    #[value(alias = "source-first")]
    OutFirst,
}

fn ids(text: &str) -> Result<IdPolicy, String> {
    match text {
        "auto" => Ok(IdPolicy::Auto),
        "keep" => Ok(IdPolicy::Keep),
        "compact" => Ok(IdPolicy::Compact),
        _ => text
            .parse()
            .map(IdPolicy::Below)
            .map_err(|_| "expected auto, keep, compact, or a number of vertices".into()),
    }
}

impl StoreArgs {
    /// The formatter's options.
    pub fn options(&self, keep_weights: bool) -> Result<FormatOptions, Failure> {
        let page_bytes = self.page_size.unwrap_or(PAGE_BYTES_DEFAULT);
        let encoding = self.encoding.with(page_bytes)?;
        let mut stripes = vec![PathBuf::from(".")];
        for stripe in &self.stripes {
            stripes.push(std::path::absolute(stripe).map_err(|error| Failure::Other(format!("--stripe: {error}")))?);
        }
        let layout = Layout { page_bytes, encoding, weights: None, stripes, overwrite: self.overwrite };
        layout.validate()?;
        Ok(FormatOptions {
            layout,
            keep_weights,
            symmetrize: self.symmetrize,
            remove_duplicates: self.remove_duplicates,
            repeated: self.repeated.map(|rule| match rule {
                RepeatedName::Sum => Repeated::Sum,
                RepeatedName::Min => Repeated::Min,
                RepeatedName::Max => Repeated::Max,
                RepeatedName::First => Repeated::First,
            }),
            remove_self_loops: self.remove_self_loops,
            in_edges: self.in_edges,
            order: match self.order {
                OrderName::Auto | OrderName::Natural => VertexOrder::Natural,
                OrderName::Degree => VertexOrder::Degree,
                OrderName::DegreeGroups => VertexOrder::DegreeGroups,
                OrderName::Bfs => VertexOrder::Bfs,
                OrderName::OutFirst => VertexOrder::OutFirst,
            },
            order_from: match (&self.order_file, self.order) {
                (Some(file), _) => Some(OrderFrom::File(file.clone())),
                (None, OrderName::Auto) => Some(OrderFrom::Sample),
                (None, _) => None,
            },
            shards: self.shards,
            balance: match self.balance {
                BalanceName::Both => Balance::Both,
                BalanceName::Edges => Balance::Edges,
                BalanceName::Vertices => Balance::Vertices,
                BalanceName::Bytes => Balance::Bytes,
            },
            shard_weights: self.shard_weights.clone(),
            part: self.part,
            mirrors: self.mirrors,
            ids: self.ids,
            memory_bytes: memory_bytes(self.memory),
            temporary: self.temporary.clone(),
        })
    }
}

impl StoreArgs {
    /// Sets the main memory, in bytes: a part of the requested memory.
    pub fn limit_memory(&mut self, bytes: u64) {
        self.memory = Some(bytes);
    }
}

/// Resources of a run. The heading applies to every argument after these, so they come last.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Resources")]
pub struct ResourceArgs {
    /// Main memory of a run, as a hard limit [default: half of the available memory of the machine or container]
    #[arg(long, value_parser = size, value_name = "SIZE")]
    memory: Option<u64>,
    /// Worker threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Devices: auto (a GPU if there is one), cpu, gpu, all (every GPU), or an adapter by number or name (see
    /// `topostream devices`); may be repeated or separated by commas, and several share the run
    #[arg(long = "device", default_value = "auto", value_name = "DEVICE", value_delimiter = ',')]
    devices: Vec<DeviceChoice>,
    /// GPU memory of a run, as a hard limit [default: nine tenths of the adapter's memory]
    #[arg(long, value_parser = size, value_name = "SIZE")]
    device_memory: Option<u64>,
}

impl ResourceArgs {
    /// Main memory of a run, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        memory_bytes(self.memory)
    }

    /// Begins to load the drivers of GPUs, if the devices are sure to need them.
    pub fn load_drivers(&self) {
        #[cfg(feature = "gpu")]
        crate::device::gpu::adapters::load_early(&self.devices);
    }

    /// The engine's options.
    pub fn options(&self, tuning: &Tuning, cancel: &Cancel) -> EngineOptions {
        let defaults = EngineOptions::default();
        let threads = self.threads.map_or_else(|| ranks::threads(defaults.threads), usize::from);
        tuning
            .options(defaults, self.device_memory)
            .with_memory_bytes(self.memory_bytes())
            .with_threads(threads)
            .with_devices(self.devices.clone())
            .with_cancel(cancel.flag())
    }
}

/// Resources and settings together, each an option of its own: the keyword arguments of Python's sessions.
#[derive(Args, Clone, Debug)]
pub struct SessionArgs {
    /// The resources.
    #[command(flatten)]
    pub resources: ResourceArgs,
    /// The settings that few need.
    #[command(flatten)]
    pub tuning: Tuning,
}

impl SessionArgs {
    /// The engine's options.
    pub fn options(&self, cancel: &Cancel) -> EngineOptions {
        self.resources.options(&self.tuning, cancel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(line: &str) -> String {
        let words = with_ids_joined(line.split(' ').map(OsString::from));
        words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_ids_are_joined() {
        assert_eq!(joined("run bfs s --source -5 -o x"), "run bfs s --source=-5 -o x");
        assert_eq!(joined("--source -a=-1 --source -b"), "--source=-a=-1 --source=-b");
        for line in ["--source -o x", "--source --top", "--source -", "--source", "--iterations -5", "-- --source -5"] {
            assert_eq!(joined(line), line);
        }
    }

    /// The options of all commands whose value is an id.
    #[test]
    fn the_options_with_ids_are_known() {
        let mut commands = vec![crate::cli::command()];
        let mut found = 0;
        while let Some(command) = commands.pop() {
            let names = |arg: &clap::Arg| -> Vec<String> {
                arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect()
            };
            let takes_id = |arg: &&clap::Arg| {
                names(arg).iter().any(|name| name == "ID" || name.starts_with("ID=") || name.starts_with("ID["))
            };
            for arg in command.get_arguments().filter(takes_id) {
                let option = format!("--{}", arg.get_long().unwrap());
                assert!(ID_OPTIONS.contains(&&*option), "{} {option}", command.get_name());
                for arg in command.get_arguments() {
                    let short = arg.get_short().map(|short| format!("-{short}"));
                    assert!(short.is_none_or(|short| SHORT_OPTIONS.contains(&&*short)), "{}", command.get_name());
                }
                found += 1;
            }
            commands.extend(command.get_subcommands().cloned());
        }
        assert!(found > 10, "{found} options");
    }
}
