//! Checkpoints of several ranks: a run that is stopped every few supersteps and resumed, by as many ranks or by others,
//! has bitwise the results of an undisturbed one; a checkpoint counts only if all ranks have it.

use crate::adapter;
use crate::checkpoints::{Bits, Runs, answers, directed, numbers, one_cpu, undirected, whole_numbers};
use crate::common::{TestStore, scratch, thorough};
use crate::forged_checkpoints::with_header;
use crate::ranks::{on_machines, on_ranks};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use topostream::algorithms::{PageRank, Stop};
use topostream::checkpoint::{CheckpointEvent, Checkpoints, Every};
use topostream::cluster::Cluster;
use topostream::report::{CheckpointReport, StepReport};
use topostream::team::Strategy;
use topostream::{EngineOptions, Error};

/// The devices of a rank, and the number of ranks.
#[derive(Clone)]
struct Way {
    ranks: usize,
    options: EngineOptions,
}

fn way(ranks: usize, devices: usize, strategy: Strategy) -> Way {
    let options = one_cpu().with_devices(vec![one_cpu().devices[0].clone(); devices]).with_strategy(strategy);
    Way { ranks, options }
}

type Events = Arc<Mutex<Vec<CheckpointEvent>>>;

/// Opens a folder for a rank, and collects its messages.
fn open(cluster: &Arc<Cluster>, folder: &Path, every: Every) -> Result<(Arc<Checkpoints>, Events), Error> {
    let events = Events::default();
    let hears = Arc::clone(&events);
    let tell = move |event: &CheckpointEvent| hears.lock().unwrap().push(event.clone());
    Checkpoints::open_on(Some(Arc::clone(cluster)), folder, every, true, tell).map(|opened| (Arc::new(opened), events))
}

/// Runs a session on all ranks: the one with number `stopped` is asked to stop after its first superstep.
fn session(store: &TestStore, way: &Way, folder: &Path, runs: &Runs<'_>, stopped: usize) -> Vec<Result<Bits, Error>> {
    let runs = Shared(runs);
    // Two ranks on each machine.
    let machines: Vec<usize> = (0..way.ranks).map(|rank| rank / 2).collect();
    on_machines(&machines, |cluster| {
        let cancel = Arc::new(AtomicBool::new(false));
        let (checkpoints, _) = open(&cluster, folder, Every::Supersteps(2))?;
        let options = way.options.clone().with_cancel(Arc::clone(&cancel)).with_checkpoints(Some(checkpoints));
        let is_stopped = cluster.rank() == stopped % way.ranks;
        let engine = store.engine(options.with_cluster(cluster));
        runs.get()(&engine, &mut |_: &StepReport| cancel.store(is_stopped, Relaxed))
    })
}

/// Functions of tests hold nothing but numbers.
struct Shared<'a>(&'a Runs<'a>);

#[allow(unsafe_code, reason = "trait objects of tests do not say that they may be shared")]
// SAFETY: the functions of `whole_numbers` and `numbers` are closures over `Copy` parameters of algorithms.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    fn get(&self) -> &'a Runs<'a> {
        self.0
    }
}

/// Asserts that sessions in these ways, in turn, have the results of an undisturbed run in the first one.
fn check(name: &str, store: &TestStore, ways: &[Way], runs: &Runs<'_>) {
    let folder = scratch::in_memory();
    let undisturbed = scratch::in_memory();
    let expected = session(store, &ways[0], undisturbed.path(), &never(runs), usize::MAX);
    let expected = expected.into_iter().next().unwrap().unwrap_or_else(|error| panic!("{name}: {error}"));
    for number in 0..2000 {
        let found = session(store, &ways[number % ways.len()], folder.path(), runs, number);
        if found.iter().all(|found| matches!(found, Err(Error::Interrupted))) {
            continue;
        }
        assert!(number > 0, "{name}: it was never stopped");
        for (rank, found) in found.into_iter().enumerate() {
            let found = found.unwrap_or_else(|error| panic!("{name}, session {number}, rank {rank}: {error}"));
            assert!(found == expected, "{name}: other answers on rank {rank} after {number} sessions");
        }
        return;
    }
    panic!("{name}: no end");
}

/// The same run, which is not asked to stop.
fn never<'a>(
    runs: &'a Runs<'a>,
) -> impl Fn(&topostream::Engine, &mut topostream::engine::Observer<'_>) -> Result<Bits, Error> + 'a {
    move |engine, _| runs(engine, &mut |_| {})
}

#[test]
fn stopped_on_ranks() {
    let (directed, undirected) = (directed(), undirected());
    let ways = [way(2, 1, Strategy::Replicate), way(3, 1, Strategy::Shard), way(2, 2, Strategy::Shard)];
    for (number, (name, is_directed, runs)) in whole_numbers().into_iter().enumerate() {
        // By default, not those of the next test.
        if !thorough() && MOVED.contains(&name) {
            continue;
        }
        let store = if is_directed { &directed } else { &undirected };
        for (turn, way) in ways.iter().enumerate() {
            if thorough() || (number + turn) % 3 == 0 {
                check(name, store, std::slice::from_ref(way), &*runs);
            }
        }
    }
    for (number, (name, runs)) in numbers().into_iter().enumerate() {
        // Sums in single precision depend on the order.
        if name != "heat" {
            check(name, &directed, &ways[number % 3..=number % 3], &*runs);
        }
    }
}

/// The algorithms that ranks hand to others by default.
const MOVED: [&str; 4] = ["bfs", "sssp", "clustering by ranges", "communities"];

/// A checkpoint of ranks is resumed by more of them, by fewer, and by a process alone, if they see all files.
#[test]
fn from_ranks_to_others() {
    let (directed, undirected) = (directed(), undirected());
    let [one, two, three] = [1, 2, 3].map(|ranks| way(ranks, 1, Strategy::Shard));
    let ways = [two.clone(), three, one, two, way(1, 2, Strategy::Replicate)];
    for (name, is_directed, runs) in whole_numbers() {
        if thorough() || MOVED.contains(&name) {
            check(name, if is_directed { &directed } else { &undirected }, &ways, &*runs);
        }
    }
}

#[test]
fn from_gpus_of_ranks_to_cpus() {
    if adapter::off() {
        return;
    }
    let store = directed();
    let gpus =
        Way { ranks: 2, options: one_cpu().with_devices(vec![adapter::device()]).with_strategy(Strategy::Shard) };
    for (name, _, runs) in whole_numbers() {
        if name == "bfs" || (thorough() && name == "sssp") {
            check(name, &store, &[gpus.clone(), way(2, 1, Strategy::Shard)], &*runs);
        }
    }
}

fn five() -> PageRank {
    PageRank { stop: Stop::Iterations(5), ..PageRank::default() }
}

/// The answers, the report's section and the messages of a rank.
type Outcome = (Bits, CheckpointReport, Vec<CheckpointEvent>);

/// Five iterations on two ranks, with a checkpoint after each.
fn run_two(store: &TestStore, folder: &Path, after: impl Fn(usize, &StepReport) + Sync) -> Vec<Result<Outcome, Error>> {
    on_ranks(2, |cluster| {
        let (checkpoints, events) = open(&cluster, folder, Every::Supersteps(1))?;
        let rank = cluster.rank();
        let engine = store.engine(one_cpu().with_checkpoints(Some(checkpoints)).with_cluster(cluster));
        let run = engine.run_observed(five(), &mut |step| after(rank, step))?;
        let told = events.lock().unwrap().clone();
        Ok((answers(&run, engine.store().vertices()), run.report.checkpoints.clone().unwrap(), told))
    })
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A folder with the generations 3 and 4 of two ranks, and what an undisturbed run finds.
fn two_generations(store: &TestStore) -> (tempfile::TempDir, Bits) {
    let folder = scratch::in_memory();
    let found = run_two(store, folder.path(), |_, _| {});
    let (expected, report, _) = found.into_iter().next().unwrap().unwrap();
    assert_eq!((report.written, report.failed), (4, 0));
    (folder, expected)
}

const RANKS: [&str; 2] = ["rank-00000-of-00002", "rank-00001-of-00002"];

/// The superstep from which both ranks resume in a changed copy of the folder, if they find the same as ever.
fn resumes_from(store: &TestStore, folder: &Path, expected: &Bits, edit: impl Fn(&Path)) -> Result<u64, Error> {
    let changed = scratch::in_memory();
    RANKS.iter().for_each(|rank| copy(&folder.join(rank), &changed.path().join(rank)));
    edit(changed.path());
    let found = run_two(store, changed.path(), |_, _| {});
    let found = found.into_iter().collect::<Result<Vec<Outcome>, Error>>()?;
    let resumed = |report: &CheckpointReport| report.resumed.as_ref().map_or(0, |resumed| resumed.supersteps);
    assert!(found.iter().all(|(bits, ..)| bits == expected), "other answers");
    assert_eq!(resumed(&found[0].1), resumed(&found[1].1), "ranks agree");
    Ok(resumed(&found[0].1))
}

/// Ranks are killed while some have replaced a generation and others have not; files are damaged, or lost.
#[test]
fn the_newest_that_all_have_is_used() {
    let store = directed();
    let (folder, expected) = two_generations(&store);
    let from = |edit: &dyn Fn(&Path)| resumes_from(&store, folder.path(), &expected, edit);
    assert_eq!(from(&|_| {}).unwrap(), 4);
    // Generation 4 is in slot 1, as the second and the first are.
    let newer = |at: &Path, rank: &str| at.join(rank).join("checkpoint.1");
    for rank in RANKS {
        let lost = |at: &Path| fs::remove_file(newer(at, rank)).unwrap();
        assert_eq!(from(&lost).unwrap(), 3, "rank {rank} was killed before it replaced the second generation");
        let cut = |at: &Path| {
            let bytes = fs::read(newer(at, rank)).unwrap();
            fs::write(newer(at, rank), &bytes[..bytes.len() / 2]).unwrap();
        };
        assert_eq!(from(&cut).unwrap(), 3);
        let flipped = |at: &Path| {
            let mut bytes = fs::read(newer(at, rank)).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(newer(at, rank), &bytes).unwrap();
        };
        assert_eq!(from(&flipped).unwrap(), 3);
        let gone = |at: &Path| fs::remove_dir_all(at.join(rank)).unwrap();
        let error = from(&gone).expect_err("a rank has none").to_string();
        for words in ["no checkpoint can be used by all ranks", "rank 0: ", "rank 1: ", "generation 4", "remove them"] {
            assert!(error.contains(words), "{words}: {error}");
        }
    }
    let swapped = |at: &Path| {
        fs::rename(at.join(RANKS[0]), at.join("other")).unwrap();
        fs::rename(at.join(RANKS[1]), at.join(RANKS[0])).unwrap();
        fs::rename(at.join("other"), at.join(RANKS[1])).unwrap();
    };
    let error = from(&swapped).expect_err("each has the other's").to_string();
    assert!(error.contains("expected a checkpoint of rank 0 of 2, found one of rank 1 of 2"), "{error}");
}

/// A job that is killed while its ranks replace their first generation has lost nothing, and starts from the beginning;
/// what some had written is never taken for a part of a later checkpoint.
#[test]
fn an_incomplete_first_generation_is_nothing() {
    let store = directed();
    let (kept, folder) = (scratch::in_memory(), scratch::in_memory());
    run_two(&store, kept.path(), |rank, step| {
        // After the first checkpoint, at the end of the second superstep.
        if rank == 0 && step.superstep == 1 {
            copy(&kept.path().join(RANKS[0]), &folder.path().join(RANKS[0]));
        }
    });
    let found = run_two(&store, folder.path(), |_, _| {});
    let (_, report, events) = found.into_iter().next().unwrap().unwrap();
    assert!(report.resumed.is_none() && report.written == 4);
    assert!(matches!(events[0], CheckpointEvent::Nothing { .. }), "{events:?}");
    let generation = |rank: usize, slot: u32| {
        let bytes = fs::read(folder.path().join(RANKS[rank]).join(format!("checkpoint.{slot}"))).unwrap();
        let end = 24 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        serde_json::from_slice::<serde_json::Value>(&bytes[24..end]).unwrap()["generation"].as_u64().unwrap()
    };
    assert_eq!([generation(0, 1), generation(1, 1)], [5, 5], "the first generation was not counted again");
}

/// If a rank cannot write, no rank replaces its generation, all say which one it was, and the run continues.
#[test]
fn a_rank_that_cannot_write_stops_nobody() {
    let store = directed();
    let (folder, expected) = two_generations(&store);
    let other = scratch::in_memory();
    let new = other.path().join(RANKS[1]).join("checkpoint.new");
    let found = run_two(&store, other.path(), |rank, step| {
        if rank == 1 && step.superstep == 2 {
            fs::create_dir(&new).unwrap();
        }
    });
    for found in found {
        let (bits, report, events) = found.unwrap();
        assert!(bits == expected);
        assert_eq!((report.written, report.failed), (2, 2));
        let CheckpointEvent::Failed { supersteps: 3, message, .. } = &events[1] else { panic!("{events:?}") };
        assert!(message.starts_with("rank 1: "), "{message}");
    }
    fs::remove_dir(&new).unwrap();
    assert_eq!(resumes_from(&store, other.path(), &expected, |_| {}).unwrap(), 2);
    drop(folder);
}

#[test]
fn folders_of_ranks_are_guarded() {
    let store = directed();
    let (folder, _) = two_generations(&store);
    let refused = |resume, cluster: Option<Arc<Cluster>>| {
        let opened = Checkpoints::open_on(cluster, folder.path(), Every::Minute, resume, |_| {});
        opened.map(drop).expect_err("it is in use, or has a checkpoint").to_string()
    };
    let found = on_ranks(2, |cluster| refused(false, Some(cluster)));
    assert!(found.iter().all(|error| error.contains("pagerank after 4 supersteps")), "{found:?}");
    // Neither a process alone nor a job of another number of ranks uses a folder that ranks use.
    on_ranks(2, |cluster| {
        let (held, _) = open(&cluster, folder.path(), Every::Minute).unwrap();
        cluster.gather_bytes(&[]).unwrap();
        if cluster.rank() == 0 {
            assert!(refused(true, None).contains("another run"));
            let three = topostream::cluster::memory::clusters(3).into_iter().next();
            assert!(refused(true, three).contains("another run"));
        }
        cluster.gather_bytes(&[]).unwrap();
        held.clear().unwrap();
    });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "all ranks have cleared what is theirs");
}

/// If one rank cannot rename its file, the others may have; the previous generation, which all have, stays the
/// checkpoint.
#[test]
fn a_rank_that_cannot_rename_stops_nobody() {
    let store = directed();
    let (whole, expected) = two_generations(&store);
    drop(whole);
    let folder = scratch::in_memory();
    let blocked = folder.path().join(RANKS[1]).join("checkpoint.1");
    let found = run_two(&store, folder.path(), |rank, step| {
        // The second generation is renamed to the other name after the second superstep.
        if rank == 1 && step.superstep == 1 {
            fs::create_dir_all(blocked.join("something")).unwrap();
        }
    });
    for found in found {
        let (bits, report, _) = found.unwrap();
        assert!(bits == expected);
        assert_eq!((report.written, report.failed), (1, 3));
    }
    fs::remove_dir_all(&blocked).unwrap();
    assert!(folder.path().join(RANKS[0]).join("checkpoint.1").exists(), "the other rank has renamed its own");
    assert_eq!(resumes_from(&store, folder.path(), &expected, |_| {}).unwrap(), 1);
}

/// A complete first generation that not all ranks see is an error, unlike one that was never completed.
#[test]
fn a_first_generation_elsewhere_is_not_lost() {
    let store = directed();
    let (kept, folders) = (scratch::in_memory(), [scratch::in_memory(), scratch::in_memory()]);
    run_two(&store, kept.path(), |rank, step| {
        // After both ranks have the first: each has its own, on disks of their own, in the order of other days.
        if step.superstep == 1 {
            copy(&kept.path().join(RANKS[rank]), &folders[1 - rank].path().join(RANKS[rank]));
        }
    });
    let refused = on_ranks(2, |cluster| {
        let folder = folders[cluster.rank()].path();
        let (checkpoints, _) = open(&cluster, folder, Every::Minute).unwrap();
        let engine = store.engine(one_cpu().with_checkpoints(Some(checkpoints)).with_cluster(cluster));
        engine.run(five()).map(drop).expect_err("each has the other's").to_string()
    });
    for error in refused {
        assert!(error.contains("generation 1 of rank 1 of 2") && error.contains("rank 1: generation 1"), "{error}");
    }
}

/// Ranges of vertices that do not fit are errors, for ranks and for a process alone.
#[test]
fn forged_parts_are_refused() {
    let store = directed();
    let (folder, expected) = two_generations(&store);
    let vertices = store.open().vertices();
    let middle = vertices / 2;
    let forgeries: [(usize, u64, u64); 8] = [
        (1, middle, u64::MAX),
        // Of the right length.
        (0, 32, middle + 32),
        (0, 0, middle - 32),
        (0, 64, middle),
        (1, middle, vertices + 32),
        (1, vertices, middle),
        (1, 0, vertices),
        (0, 0, 0),
    ];
    for (rank, first, end) in forgeries {
        let forge = |at: &Path| {
            for slot in 0..2 {
                let file = at.join(RANKS[rank]).join(format!("checkpoint.{slot}"));
                let edit = |header: &mut serde_json::Value| {
                    (header["part"]["first"], header["part"]["end"]) = (first.into(), end.into());
                };
                let forged = with_header(&fs::read(&file).unwrap(), edit);
                fs::write(&file, forged).unwrap();
            }
        };
        let what = format!("rank {rank} with {first} to {end}");
        let error = resumes_from(&store, folder.path(), &expected, forge).expect_err(&what).to_string();
        assert!(error.contains("not a valid checkpoint"), "{what}: {error}");
        let copied = scratch::in_memory();
        RANKS.iter().for_each(|rank| copy(&folder.path().join(rank), &copied.path().join(rank)));
        forge(copied.path());
        let alone = Checkpoints::open(copied.path(), Every::Minute, true, |_| {})
            .and_then(|opened| store.engine(one_cpu().with_checkpoints(Some(Arc::new(opened)))).run(five()).map(drop));
        let error = alone.expect_err(&what).to_string();
        assert!(error.contains("not a valid checkpoint") || error.contains("can be used"), "{what}: {error}");
    }
}
