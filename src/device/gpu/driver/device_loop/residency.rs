//! What is resident, and who chooses the next superstep: one state, and one function that moves to another one.
//!
//! ```text
//!   Streamed ── tables ─▶ Paced ──┬─ control ────────▶ Alone
//!      ▲                    ▲     └─ control, peers ─▶ Joint
//!      └─── other pages ────┴──────── new tables ───────┘
//! ```

use super::super::context::Context;
use super::super::executor::Encoded;
use super::super::writes::Writes;
use super::batch::Control;
use super::bins;
use super::paced::Paced;
use super::resident::{self, Resident};
use super::suits::{suits, suits_jointly, visits};
use crate::device::exchange::Move;
use crate::device::gpu::memory::arena::Arena;
use crate::error::Result;
use crate::model::algorithm::{Step, Visit};
use std::any::Any;
use topostream_formats::Direction;

/// The state of resident pages.
#[derive(Default)]
pub(super) enum Residency {
    /// Pages are launched as they come: there are no tables.
    #[default]
    Streamed,
    /// Tables of pages, and supersteps that the host chooses.
    Paced(Resident, Paced),
    /// Supersteps that the device chooses.
    Alone(Resident, Control, Option<Start>),
    /// Supersteps that devices run together.
    Joint(Resident, Control, Joint),
}

/// The state that a superstep needs. Those with control kernels read unit rows.
#[derive(Clone, Copy)]
pub(super) enum Goal<'a> {
    Paced,
    Alone(&'a wgpu::Buffer),
    Joint(&'a wgpu::Buffer),
}

/// The commands that set initial values and begin the first superstep.
pub(super) struct Start {
    pub step: Step,
    pub encoded: Encoded,
}

/// What is kept from one joint superstep to the next.
#[derive(Default)]
pub(super) struct Joint {
    /// The numbers of a superstep, which its commands copy to where kernels read them.
    pub inbox: Option<wgpu::Buffer>,
    /// The lists of the next superstep, if it is as expected.
    pub lists: Option<EncodedLists>,
}

/// The first half of a joint superstep, encoded before its numbers are known.
pub(super) struct EncodedLists {
    pub superstep: u32,
    pub visit: u32,
    pub send: Vec<Move>,
    /// For its places.
    pub writes: Writes,
    pub encoded: Encoded,
}

/// What the device needs to run supersteps over resident pages.
pub struct DeviceLoop {
    pub(super) residency: Residency,
    /// The arena's version before the last superstep.
    version: Option<u64>,
    /// Whether the engine lets the device run ahead.
    pub(super) asked: bool,
    /// Whether the pages of the next superstep have not been determined.
    pub pages_unknown: bool,
}

impl Residency {
    /// The tables, which may be outdated.
    pub fn tables(&self) -> Option<&Resident> {
        match self {
            Self::Streamed => None,
            Self::Paced(tables, _) | Self::Alone(tables, ..) | Self::Joint(tables, ..) => Some(tables),
        }
    }

    fn into_tables(self) -> Option<Resident> {
        match self {
            Self::Streamed => None,
            Self::Paced(tables, _) | Self::Alone(tables, ..) | Self::Joint(tables, ..) => Some(tables),
        }
    }

    /// Updates the tables in place, and what depends on the numbers in them. False if that is impossible.
    fn update(&mut self, context: &Context, arena: &Arena, visits: &[(Direction, Visit)]) -> bool {
        match self {
            Self::Streamed => false,
            Self::Paced(tables, paced) => {
                let updated = tables.update(context, arena, visits);
                *paced = Paced::default();
                updated
            }
            Self::Alone(tables, control, _) | Self::Joint(tables, control, _) => {
                let updated = tables.update(context, arena, visits);
                if updated {
                    control.update(context, tables, visits);
                }
                updated
            }
        }
    }
}

impl DeviceLoop {
    /// Reuses the tables of an earlier run.
    pub fn new(context: &mut Context, asked: bool) -> Self {
        let left = context.home.left.take().and_then(|left| left.downcast().ok());
        let residency = left.map_or(Residency::Streamed, |left| Residency::Paced(*left, Paced::default()));
        Self { residency, version: None, asked, pages_unknown: false }
    }

    /// The tables, for a later run.
    pub fn into_left(self) -> Option<Box<dyn Any + Send>> {
        self.residency.into_tables().map(|tables| Box::new(tables) as Box<dyn Any + Send>)
    }

    /// Whether the engine asks for supersteps without it.
    pub fn is_asked(&self) -> bool {
        self.asked
    }

    /// Whether the device will likely run the first superstep without the host.
    pub fn is_likely(&self, context: &Context) -> bool {
        self.asked && self.residency.tables().is_some() && suits(context)
    }

    /// Whether the device will likely run the first superstep together with others.
    pub fn is_jointly_likely(&self, context: &Context) -> bool {
        let seen = self.residency.tables().is_some_and(|tables| tables.seen().is_some());
        self.asked && seen && suits_jointly(context)
    }

    /// Moves to another state: of the same tables, or of `new` ones. Without tables, pages are streamed.
    pub(super) fn enter(&mut self, context: &mut Context, goal: Goal<'_>, new: Option<Resident>) -> Result<()> {
        if new.is_none() {
            match (&self.residency, goal) {
                (Residency::Streamed, _)
                | (Residency::Paced(..), Goal::Paced)
                | (Residency::Alone(..), Goal::Alone(_))
                | (Residency::Joint(..), Goal::Joint(_)) => return Ok(()),
                _ => {}
            }
        }
        // Bind groups keep the buffers of the old state.
        context.kept.forget();
        let Some(tables) = new.or(std::mem::take(&mut self.residency).into_tables()) else { return Ok(()) };
        let control = |rows| Control::new(context, (&tables, rows), &visits(context));
        self.residency = match goal {
            Goal::Paced => Residency::Paced(tables, Paced::default()),
            Goal::Alone(rows) => {
                let control = control(rows)?;
                Residency::Alone(tables, control, None)
            }
            Goal::Joint(rows) => {
                let control = control(rows)?;
                Residency::Joint(tables, control, Joint::default())
            }
        };
        Ok(())
    }

    /// Drops commands with the queue of long lists, which has been replaced.
    pub fn forget_bound(&mut self, context: &mut Context) {
        context.kept.forget();
        if let Residency::Paced(_, paced) = &mut self.residency {
            paced.forget();
        }
    }

    /// Whether the tables are up to date.
    pub(super) fn serves(&self, context: &Context, arena: &Arena) -> bool {
        self.residency.tables().is_some_and(|tables| tables.serves(context, arena, &visits(context)))
    }

    /// Describes the pages in the arena, unless it is still being filled. Returns whether the tables are up to date.
    pub(super) fn describe(&mut self, context: &mut Context, arena: &Arena) -> Result<bool> {
        if self.serves(context, arena) {
            return Ok(true);
        }
        // Tables of an arena that is still being filled would be outdated in the next superstep.
        let unchanged = self.version.replace(arena.version()).is_none_or(|version| version == arena.version());
        if !context.plan.keeps_pages() || !unchanged && arena.pages() != resident::pages(context, &visits(context)) {
            return Ok(false);
        }
        self.describe_now(context, arena)
    }

    /// Describes the pages in the arena, which is not being filled. Returns whether there are any.
    pub(super) fn describe_now(&mut self, context: &mut Context, arena: &Arena) -> Result<bool> {
        let visits = visits(context);
        // Bind groups keep buffers that are replaced, for which there may be no room twice.
        context.kept.forget();
        if self.residency.update(context, arena, &visits) {
            return Ok(true);
        }
        self.residency = Residency::Streamed;
        let tables = Resident::new(context, arena, &visits)?;
        self.enter(context, Goal::Paced, tables)?;
        Ok(self.residency.tables().is_some())
    }

    /// Sorts the in-lists in the tables by length, if supersteps visit all of them: if no page is missing, or for
    /// supersteps that visit `only` these pages.
    pub(super) fn sort(&mut self, context: &mut Context, visits: &[(Direction, Visit)], only: bool) -> Result<()> {
        let Some(tables) = self.residency.tables() else { return Ok(()) };
        if context.plan.bins_bytes == 0 || !visits.contains(&(Direction::In, Visit::All)) {
            return Ok(());
        }
        let read = context.topology(Direction::In).direction();
        let unsorted = |place: &resident::Place| place.direction == read && place.bins.is_none();
        if !only && !tables.is_complete(read) || !tables.places.iter().any(unsorted) {
            return Ok(());
        }
        // Commands of the state use other kernels.
        let mut tables = std::mem::take(&mut self.residency).into_tables().expect("just seen");
        for place in tables.places.iter_mut().filter(|place| unsorted(place)) {
            bins::sort(context, place)?;
        }
        self.enter(context, Goal::Paced, Some(tables))
    }
}
