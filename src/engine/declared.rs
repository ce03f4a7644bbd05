//! Checks of an algorithm's declaration, for consistency and against the store. They are made before anything is read,
//! so that a defect of an algorithm is an error and not a panic during a run.

use crate::error::{Error, Result};
use crate::model::algorithm::{Algorithm, Declaration, Step, Visit};
use crate::model::attributes::{Attribute, AttributeType, Initial, Merge};
use topostream_formats::text::counted;
use topostream_formats::{Direction, Store};

/// The maximum number of sets of vertices that devices can exchange: a message has one word of 32 bits for them.
const SETS_MAX: usize = 32;

/// Checks visits, attributes and tables, from which plans are made.
///
/// # Errors
/// [`Error::Parameter`] that says what is inconsistent.
pub fn check(declaration: &Declaration, store: &Store) -> Result<()> {
    let found = defect(declaration, store);
    found.map_or(Ok(()), |found| Err(Error::Parameter(format!("{}: {found}", declaration.command))))
}

/// Checks the algorithm's seeds. The algorithm's own check comes first: its messages are more specific.
///
/// # Errors
/// [`Error::Parameter`] if a vertex does not exist, or if a value cannot be set.
pub fn check_seeds(algorithm: &dyn Algorithm, declaration: &Declaration, store: &Store) -> Result<()> {
    let found = seed_defect(algorithm, store.vertices(), declaration);
    found.map_or(Ok(()), |found| Err(Error::Parameter(format!("{}: {found}", declaration.command))))
}

fn defect(declaration: &Declaration, store: &Store) -> Option<String> {
    let (declared, visits) = (&declaration.attributes, &declaration.visits);
    if visits.iter().all(|(_, visit)| *visit == Visit::None) {
        return Some("`visits` names no lists".into());
    }
    let zero = |attribute: &&Attribute| is_wide_sum(attribute) || attribute.of == AttributeType::Bit;
    let first = declared.iter().filter(zero).find(|attribute| attribute.initial != Initial::Bits(0));
    let first = first
        .map(|attribute| format!("attribute {} has type {} and must begin at 0", attribute.name, attribute.of.name()));
    let of_visit = |&(direction, visit): &(Direction, Visit)| visit_defect(declaration, store, direction, visit);
    let double = declared.iter().find(|attribute| attribute.of == AttributeType::F64 && declaration.shader.is_some());
    let double = double.map(|attribute| {
        format!("attribute {} has type f64, which GPUs do not have: the algorithm cannot have a shader", attribute.name)
    });
    let fits = |attribute: &Attribute| {
        declaration.traversal && attribute.of == AttributeType::Bit && attribute.role.is_written()
    };
    let follower = declared.iter().find(|attribute| attribute.merge == Merge::Activation && !fits(attribute));
    let follower = follower.map(|attribute| {
        format!("attribute {} follows activations, but is not a bit that edges of a traversal write", attribute.name)
    });
    let tables = declaration.traversal && declaration.tables.iter().any(|table| table.is_own());
    let tables = tables.then(|| "a traversal cannot have tables of its own".into());
    let sets = declaration.phase_within.map_or(&[][..], |within| within.sets);
    let set = sets.iter().find(|&&place| !is_set(declared, place));
    let set = set.map(|place| format!("`phase_within` names attribute {place}, which is not a bit attribute"));
    visits.iter().find_map(of_visit).or(tables).or(first).or(double).or(follower).or(set)
}

/// Whether its values have 64 bits, and begin at 0.
fn is_wide_sum(attribute: &Attribute) -> bool {
    attribute.of.is_wide() && (attribute.of != AttributeType::U64 || attribute.merge == Merge::Add)
}

fn is_set(declared: &[Attribute], place: usize) -> bool {
    declared.get(place).is_some_and(|attribute| attribute.of == AttributeType::Bit)
}

fn visit_defect(declaration: &Declaration, store: &Store, direction: Direction, visit: Visit) -> Option<String> {
    if store.topology(direction).is_none() {
        return Some(format!(
            "it visits in-lists, and the store has none: `topostream reformat {} NEW --in-edges` makes a store with \
             them, from this one alone",
            store.path().display()
        ));
    }
    match visit {
        Visit::None if declaration.traversal => {
            Some("a superstep of a traversal that visits no lists does nothing: it has no vertex phase".into())
        }
        Visit::None if direction == Direction::In => {
            Some("a superstep that visits no lists has the direction `Out`".into())
        }
        Visit::Frontier if !declaration.traversal => Some("it visits active vertices, but `traversal` is false".into()),
        Visit::Within(place) | Visit::Without(place) if !is_set(&declaration.attributes, place) => {
            Some(format!("it visits vertices by attribute {place}, which is not a bit attribute"))
        }
        _ => None,
    }
}

fn seed_defect(algorithm: &dyn Algorithm, vertices: u64, declaration: &Declaration) -> Option<String> {
    let declared = &declaration.attributes;
    let seeds = algorithm.seeds();
    let beyond = |vertex: u32| u64::from(vertex) >= vertices;
    let named = seeds.active.iter().copied().chain(seeds.values.iter().map(|seed| seed.vertex));
    if let Some(vertex) = named.into_iter().find(|&vertex| beyond(vertex)) {
        return Some(format!("vertex {vertex} does not exist: the graph has {}", counted(vertices, "vertex")));
    }
    if !seeds.active.is_empty() && !declaration.traversal {
        return Some("it starts with active vertices, but `traversal` is false".into());
    }
    let is_none = |place: usize| declared.get(place).is_none_or(is_wide_sum);
    if let Some(seed) = seeds.values.iter().find(|seed| is_none(seed.attribute)) {
        return Some(format!("a seed sets attribute {}, which does not exist or is a sum of 64 bits", seed.attribute));
    }
    let sets = &seeds.sets;
    let unfit = |place: usize| !is_set(declared, place) || declared[place].role.is_written();
    if let Some((place, _)) = sets.iter().find(|(place, _)| unfit(*place)) {
        return Some(format!(
            "a seed is a set for attribute {place}, which is not a bit attribute or is written by edges"
        ));
    }
    let other = sets.iter().find(|(_, set)| set.len() != vertices);
    other.map(|(_, set)| format!("a set is over {} vertices, but the graph has {vertices}", set.len()))
}

/// Checks that several devices can exchange the algorithm's values.
///
/// # Errors
/// [`Error::Parameter`] if devices cannot share it, or if a traversal adds to numbers of 64 bits, or writes more than
/// 32 sets.
pub fn check_shared(declaration: &Declaration) -> Result<()> {
    let wrong = |why: String| Err(Error::Parameter(format!("{} runs on one device only: {why}", declaration.name)));
    if declaration.alone {
        return wrong("by this method, a write depends on all that edges have written".into());
    }
    if !declaration.traversal {
        return Ok(());
    }
    let declared = &declaration.attributes;
    let written = || declared.iter().filter(|attribute| attribute.role.is_written());
    if let Some(sum) = written().find(|attribute| is_wide_sum(attribute)) {
        return wrong(format!("it is a traversal whose edges add to numbers of 64 bits ({})", sum.name));
    }
    let sets = written().filter(|attribute| attribute.of == AttributeType::Bit).count();
    if sets > SETS_MAX {
        wrong(format!("its edges write {sets} sets; a message has room for {SETS_MAX}"))
    } else {
        Ok(())
    }
}

/// Checks that a superstep's visit is one that the algorithm has declared: devices are prepared for those only.
///
/// # Errors
/// [`Error::Parameter`] if it is not declared.
pub fn check_step(declaration: &Declaration, step: &Step) -> Result<()> {
    let Step { superstep, direction, visit, .. } = *step;
    if declaration.allows(step) {
        return Ok(());
    }
    let name = declaration.name;
    let message =
        format!("{name}: superstep {superstep} visits {visit:?} by {direction:?}-lists, which `visits` does not name");
    Err(Error::Parameter(message))
}
