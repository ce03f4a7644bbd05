//! The memory that a run needs, on each device and in main memory.

use super::{Environment, Workload};
use crate::model::attributes::Role;
use serde::Serialize;

/// An estimate of batches, queues and sums on a device, in bytes. Part of them depends on limits that only the driver
/// knows.
const WORKING_BYTES: u64 = 16 << 20;

/// Bytes of the plain images of a launch, if a device keeps pages packed.
const IMAGES_BYTES: u64 = 512 << 20;

/// The memory that a run needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Needs {
    /// Main memory without the page buffer, in bytes: the program, and the attributes of CPU devices.
    pub main_bytes: u64,
    /// The page buffer, in bytes.
    pub buffer_bytes: u64,
    /// Whether the run fits in the memory budget.
    pub main_fits: bool,
    /// The memory on each device, in the order of devices.
    pub devices: Vec<DeviceNeeds>,
}

/// The memory that a run needs on a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceNeeds {
    /// The device's name.
    pub device: String,
    /// Bytes for its part, without cached pages.
    pub bytes: u64,
    /// The device memory that may be used, in bytes; `None` for a CPU.
    pub budget_bytes: Option<u64>,
    /// Pages that the device can keep, in bytes as they are stored.
    pub cache_bytes: u64,
    /// The device memory that these take, in bytes: more if they are kept as plain images of packed pages.
    pub pages_bytes: u64,
}

impl DeviceNeeds {
    /// Returns whether it fits.
    pub fn fits(&self) -> bool {
        self.budget_bytes.is_none_or(|budget| self.bytes <= budget)
    }
}

impl Needs {
    /// Computes the needs of a run.
    pub fn of(work: &Workload, environment: &Environment<'_>) -> Self {
        let devices: Vec<DeviceNeeds> =
            (0..environment.profiles.len()).map(|device| device_needs(work, environment, device)).collect();
        let Environment { main_bytes, buffer_bytes, main_fits, .. } = *environment;
        Self { main_bytes, buffer_bytes, main_fits, devices }
    }

    /// Returns whether everything fits.
    pub fn fit(&self) -> bool {
        self.main_fits && self.devices.iter().all(DeviceNeeds::fits)
    }
}

fn device_needs(work: &Workload, environment: &Environment<'_>, device: usize) -> DeviceNeeds {
    let profile = &environment.profiles[device];
    let sharded = environment.is_sharded();
    let own = match sharded {
        true => work.vertices.div_ceil(environment.devices()),
        false => work.vertices,
    };
    let budget_bytes = if profile.is_cpu() { None } else { profile.memory_bytes };
    let fits = |bytes: u64| budget_bytes.is_none_or(|budget| bytes <= budget);
    let degrees_bytes = 4 * own;
    let beside = if profile.is_cpu() { 0 } else { degrees_bytes + 16 * work.directory_pages + WORKING_BYTES };
    // As the device's plan has it: degrees are left in main memory first, then attributes.
    let least = |bordering: Option<u64>| {
        let all = work.device_bytes(own, sharded, bordering) + beside;
        let moved = [degrees_bytes, streamed_bytes(work)];
        moved.into_iter().fold(all, |bytes, moved| if fits(bytes) { bytes } else { bytes - moved })
    };
    let mut bytes = least(None);
    if let Some(borders) = environment.borders.as_ref().filter(|_| !fits(bytes)) {
        bytes = bytes.min(least(Some(borders[device])));
    }
    let room = budget_bytes.map_or(0, |budget| budget.saturating_sub(bytes));
    let room = room.min(profile.cache_bytes.unwrap_or(u64::MAX));
    let (cache_bytes, pages_bytes) = kept_bytes(work, work.pages * environment.seen(work, device), room);
    DeviceNeeds { device: profile.name.clone(), bytes, budget_bytes, cache_bytes, pages_bytes }
}

/// Returns the pages that a device keeps, in bytes as they are stored, and the memory that they take, as its plan will
/// have it: packed pages are kept as plain images if all of these fit.
fn kept_bytes(work: &Workload, pages: f64, room: u64) -> (u64, u64) {
    let (stored, images) = ((pages * work.page_bytes) as u64, (pages * work.image_bytes) as u64);
    if images == stored || images <= room {
        return (stored.min(room), images.min(room));
    }
    let launch = IMAGES_BYTES.min(room / 4);
    let kept = stored.min(room - launch);
    (kept, kept + launch)
}

/// Returns the bytes of attributes that can stay in main memory and be read with each page.
fn streamed_bytes(work: &Workload) -> u64 {
    let streamed = work.attributes.iter().filter(|attribute| attribute.role == Role::ReadOnly);
    streamed.map(|attribute| attribute.memory_bytes(work.vertices)).sum()
}
