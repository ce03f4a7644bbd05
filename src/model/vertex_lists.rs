//! The vertices whose values cross between devices.
//!
//! ```text
//!  all          0 1 2 3 4 5 6 7 8 9  no list
//!  linked       0 2 3 5 7 8          one list for all receivers: vertices with out-edges
//!  mirrored     2 3 │ 7              a list for each: vertices of others with edges into its own range
//! ```
//!
//! Both ends of a transfer have the same list, so that values are packed without gaps and without their vertices.
//!
//! Mirrored: what a receiver keeps of other devices' vertices are their mirrors, and the owner has the master (Gluon,
//! Dathathri et al., PLDI 2018). These lists need the store's mirrors, an index that says for each vertex into which of
//! 32 ranges of the graph its edges lead (formats/SPEC.md, section 16). Without it, all devices are sent the values of
//! all vertices with out-edges. A device that is short of memory has room for its mirrors only: its
//! [border](super::border).

use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use topostream_formats::mirrors::Mirrors;

/// Which vertices of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VertexList {
    /// All of them.
    All,
    /// The vertices with out-edges.
    Linked,
    /// The vertices with edges into the own vertices of a device, given by its number.
    Mirrored(u32),
}

/// Lists of vertices, each ascending, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexLists {
    vertices: Vec<u32>,
    /// Where each list begins, and where the last one ends.
    begins: Vec<usize>,
    /// The own vertices of the receiver of each list; empty if all receivers have the same list.
    receivers: Vec<Range<u64>>,
}

impl Default for VertexLists {
    /// One list, which is empty.
    fn default() -> Self {
        Self { vertices: Vec::new(), begins: vec![0, 0], receivers: Vec::new() }
    }
}

impl VertexLists {
    /// One list for all receivers: the vertices with out-edges.
    pub fn linked(out_degrees: &[u32]) -> Self {
        let degrees = out_degrees.par_iter().enumerate();
        let vertices: Vec<u32> = degrees.filter(|(_, degree)| **degree > 0).map(|(vertex, _)| vertex as u32).collect();
        Self { begins: vec![0, vertices.len()], vertices, receivers: Vec::new() }
    }

    /// A list for each device, given the own vertices of all: the vertices of other devices with a mirror among its
    /// own. Of these, only what `near` devices send or receive: devices that exchange through the memory of this
    /// machine.
    pub fn mirrored(mirrors: &Mirrors, devices: &[Range<u64>], near: &[bool]) -> Self {
        let masks = mirrors.masks();
        let (mut vertices, mut begins) = (Vec::new(), vec![0]);
        for (receiver, own) in devices.iter().enumerate() {
            let wanted = mirrors.sections().among(own);
            let senders = devices.iter().enumerate().filter(|(device, _)| *device != receiver);
            for (_, range) in senders.filter(|(device, _)| near[receiver] || near[*device]) {
                let masks = masks[range.start as usize..range.end as usize].par_iter().enumerate();
                let mirrored = masks.filter(|(_, mask)| **mask & wanted != 0);
                vertices.par_extend(mirrored.map(|(vertex, _)| range.start as u32 + vertex as u32));
            }
            begins.push(vertices.len());
        }
        Self { vertices, begins, receivers: devices.to_vec() }
    }

    /// These lists.
    #[cfg(test)]
    pub(crate) fn of_lists(lists: &[Vec<u32>], receivers: &[Range<u64>]) -> Self {
        let ends = lists.iter().scan(0, |end, list| {
            *end += list.len();
            Some(*end)
        });
        Self {
            begins: std::iter::once(0).chain(ends).collect(),
            vertices: lists.concat(),
            receivers: receivers.to_vec(),
        }
    }

    /// The lists of a device with these own vertices: what it sends and what it receives.
    #[must_use]
    pub fn of_device(self: &Arc<Self>, own: &Range<u64>) -> Arc<Self> {
        if !self.is_mirrored() {
            return Arc::clone(self);
        }
        let (mut vertices, mut begins) = (Vec::new(), vec![0]);
        for (list, receiver) in self.lists().zip(&self.receivers) {
            let part = if receiver == own { self.whole(list) } else { self.among(list, own) };
            vertices.extend_from_slice(&self.vertices[part]);
            begins.push(vertices.len());
        }
        Arc::new(Self { vertices, begins, receivers: self.receivers.clone() })
    }

    /// Whether each receiver has a list of its own.
    pub fn is_mirrored(&self) -> bool {
        !self.receivers.is_empty()
    }

    /// The vertices of all lists.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// The own vertices of the receivers, if each has a list of its own.
    pub fn receivers(&self) -> &[Range<u64>] {
        &self.receivers
    }

    /// The places of a list's vertices that are in a range.
    ///
    /// # Panics
    /// For [`VertexList::All`], which has no list.
    pub fn among(&self, list: VertexList, vertices: &Range<u64>) -> Range<usize> {
        let whole = self.whole(list);
        let of_list = &self.vertices[whole.clone()];
        let place = |vertex: u64| whole.start + of_list.partition_point(|&one| u64::from(one) < vertex);
        place(vertices.start)..place(vertices.end)
    }

    /// The number of values that a device with these own vertices sends.
    pub fn sent(&self, own: &Range<u64>) -> usize {
        self.lists().map(|list| self.among(list, own).len()).sum()
    }

    /// The number of values that it receives.
    pub fn received(&self, own: &Range<u64>) -> usize {
        match self.receivers.iter().position(|receiver| receiver == own) {
            Some(receiver) => self.whole(VertexList::Mirrored(receiver as u32)).len(),
            None => self.vertices.len() - self.among(VertexList::Linked, own).len(),
        }
    }

    /// Every list.
    fn lists(&self) -> impl Iterator<Item = VertexList> + use<> {
        let is_mirrored = self.is_mirrored();
        let list = move |number| if is_mirrored { VertexList::Mirrored(number) } else { VertexList::Linked };
        (0..self.begins.len() as u32 - 1).map(list)
    }

    fn whole(&self, list: VertexList) -> Range<usize> {
        let number = match list {
            VertexList::Linked => 0,
            VertexList::Mirrored(receiver) => receiver as usize,
            VertexList::All => panic!("all vertices have no list"),
        };
        self.begins[number]..self.begins[number + 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_have_the_same_lists() {
        let devices = [0..10, 10..20, 20..30];
        let all = Arc::new(VertexLists::of_lists(&[vec![11, 19, 20], vec![0, 29], vec![3, 4, 10]], &devices));
        for (sender, from) in devices.iter().enumerate() {
            let sends = all.of_device(from);
            for (receiver, to) in devices.iter().enumerate().filter(|(receiver, _)| *receiver != sender) {
                let receives = all.of_device(to);
                for range in [from.clone(), from.start..from.start + 5, from.start + 1..from.end] {
                    let among = |lists: &VertexLists| lists.among(VertexList::Mirrored(receiver as u32), &range);
                    let list = |lists: &VertexLists| lists.vertices()[among(lists)].to_vec();
                    assert_eq!(list(&sends), list(&receives), "{sender} to {receiver}, {range:?}");
                    assert_eq!(list(&sends), list(&all));
                }
            }
            assert_eq!((sends.sent(from), sends.received(from)), (all.sent(from), all.received(from)));
        }
        assert_eq!([0..10, 10..20, 20..30].map(|own| (all.sent(&own), all.received(&own))), [(3, 3), (3, 2), (2, 3)]);
    }

    #[test]
    fn vertices_with_out_edges_are_one_list_for_all() {
        let lists = Arc::new(VertexLists::linked(&[2, 0, 1, 0, 7]));
        assert_eq!(lists.vertices(), [0, 2, 4]);
        assert_eq!((lists.sent(&(0..3)), lists.received(&(0..3))), (2, 1));
        assert_eq!(lists.of_device(&(0..3)), lists);
        assert_eq!((lists.among(VertexList::Linked, &(1..5)), lists.among(VertexList::Linked, &(1..2))), (1..3, 1..1));
        assert!(!lists.is_mirrored() && VertexLists::default().vertices().is_empty());
    }
}
