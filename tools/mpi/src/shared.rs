//! Memory that the ranks of one machine share: a file in memory that the first of them creates, and the others open
//! through `/proc`, as the system allows it to processes of one user that see each other.
//!
//! MPI's own shared windows are backed by files in `/dev/shm` or a folder for temporary files, which containers make
//! small; nor do they say at which multiple of a memory page the window begins, as drivers of GPUs need to know.

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fstat, memfd_create};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use topostream_formats::buffer::SharedMemory;

/// With this variable set to `off`, a rank shares no memory: values cross in messages on one machine, too.
pub const SETTING: &str = "TOPOSTREAM_RANKS_SHARE_MEMORY";

/// A file in memory that this rank has created, and others may open.
pub struct Offer {
    file: File,
}

/// Where another rank's [`Offer`] is to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    process: u32,
    descriptor: i32,
    /// The file's device and number: a process of another container may have the same number.
    file: [u64; 2],
    /// Differs between machines, and from boot to boot.
    boot: String,
}

impl Offer {
    /// Creates a file of this many zeroed bytes, which are there from now on.
    ///
    /// # Errors
    /// Those of the system, which may have no memory left.
    pub fn new(bytes: u64) -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create("topostream-ranks", flags)?);
        // A page that is missing when it is first accessed would end the process.
        fallocate(&file, FallocateFlags::empty(), 0, bytes)?;
        fcntl_add_seals(&file, SealFlags::SHRINK)?;
        Ok(Self { file })
    }

    /// Where others find it.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn address(&self) -> io::Result<Address> {
        let found = fstat(&self.file)?;
        Ok(Address {
            process: std::process::id(),
            descriptor: self.file.as_raw_fd(),
            file: [found.st_dev, found.st_ino],
            boot: std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned(),
        })
    }

    /// Maps it; `what` names it in errors.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn map(&self, what: &str, bytes: u64) -> topostream_formats::Result<SharedMemory> {
        SharedMemory::of_file(what, &self.file, bytes)
    }
}

impl Address {
    /// Opens the file.
    ///
    /// # Errors
    /// If it is on another machine, if this process may not, or if another file is there.
    pub fn open(&self) -> io::Result<File> {
        if std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim() != self.boot {
            return Err(io::Error::other("it is on another machine"));
        }
        let path = format!("/proc/{}/fd/{}", self.process, self.descriptor);
        let file = File::options().read(true).write(true).open(path)?;
        let found = fstat(&file)?;
        match [found.st_dev, found.st_ino] == self.file {
            true => Ok(file),
            false => Err(io::Error::other("another file is there")),
        }
    }

    /// The address as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { process, descriptor, file: [device, number], boot } = self;
        format!("{process} {descriptor} {device} {number} {boot}").into_bytes()
    }

    /// The address of these bytes. None if they are of no address: a rank that shares nothing sends none.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut words = text.split(' ');
        let mut next = || words.next();
        let process = next()?.parse().ok()?;
        let descriptor = next()?.parse().ok()?;
        let file = [next()?.parse().ok()?, next()?.parse().ok()?];
        Some(Self { process, descriptor, file, boot: next()?.to_owned() })
    }
}

/// The machine of each rank, given for each which ranks' memory it can open: ranks are on one machine if they all reach
/// each other. A machine has the number of its first rank.
pub fn machines(reaches: &[Vec<bool>]) -> Vec<usize> {
    let mut machines: Vec<usize> = Vec::new();
    for (rank, reached) in reaches.iter().enumerate() {
        let both = |other: usize| reached[other] && reaches[other][rank];
        let joins = |first: usize| (0..rank).filter(|other| machines[*other] == first).all(both);
        let first = (0..rank).find(|&first| machines[first] == first && joins(first));
        machines.push(first.unwrap_or(rank));
    }
    machines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_is_opened_by_its_address() {
        let offer = Offer::new(8192).unwrap();
        let address = offer.address().unwrap();
        let told = Address::of_bytes(&address.to_bytes()).unwrap();
        assert_eq!(told, address);
        assert_eq!(told.open().unwrap().metadata().unwrap().len(), 8192);
        assert_eq!(offer.map("a test", 8192).unwrap().len(), 8192);
        let other = Address { file: [address.file[0], address.file[1] + 1], ..address.clone() };
        assert!(other.open().is_err(), "another file");
        let elsewhere = Address { boot: "another".into(), ..address };
        assert!(elsewhere.open().unwrap_err().to_string().contains("another machine"));
        assert_eq!(Address::of_bytes(b""), None);
    }

    #[test]
    fn machines_are_ranks_that_all_reach_each_other() {
        let of = |reaches: &[&str]| {
            let row = |row: &&str| row.chars().map(|reach| reach == '1').collect();
            machines(&reaches.iter().map(row).collect::<Vec<_>>())
        };
        assert_eq!(of(&["111", "111", "111"]), [0, 0, 0]);
        assert_eq!(of(&["1010", "0101", "1010", "0101"]), [0, 1, 0, 1]);
        assert_eq!(of(&["100", "010", "001"]), [0, 1, 2]);
        assert_eq!(of(&["110", "111", "011"]), [0, 0, 2], "the first and the last do not reach each other");
        assert_eq!(of(&["111", "011", "111"]), [0, 1, 0], "one that reaches others, but not all of them it");
    }
}
