//! How the ids of sorted edges name vertices.

use super::id_map::IdMap;

/// How sorted ids map to vertices and to the source's ids.
pub struct Naming {
    vertices: u64,
    /// The ids that occur, unless they are consecutive.
    map: Option<IdMap>,
    /// The original id of vertex 0, if there is no map.
    first: u64,
    /// Whether the sorted ids are already vertex numbers.
    translated: bool,
}

impl Naming {
    /// Vertices named by their numbers.
    pub fn vertices_below(vertices: u64) -> Self {
        Self::consecutive(0, vertices)
    }

    /// Vertices named by consecutive ids.
    pub(super) fn consecutive(first: u64, vertices: u64) -> Self {
        Self { vertices, map: None, first, translated: true }
    }

    pub(super) fn of_map(map: IdMap, translated: bool) -> Self {
        let vertices = map.count();
        match map.consecutive_from() {
            Some(first) => Self { vertices, map: None, first, translated },
            None => Self { vertices, map: Some(map), first: 0, translated },
        }
    }

    /// The number of vertices.
    pub fn vertices(&self) -> u64 {
        self.vertices
    }

    /// Main memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.map.as_ref().map_or(0, IdMap::memory_bytes)
    }

    /// The original id of vertex 0 if ids are consecutive, otherwise `None`.
    pub fn first(&self) -> Option<u64> {
        self.map.is_none().then_some(self.first)
    }

    /// The map of ids, if sorted ids are still to be looked up in it.
    pub fn untranslated(&self) -> Option<&IdMap> {
        self.map.as_ref().filter(|_| !self.translated)
    }

    /// A number that all sorted ids are below.
    pub fn ids_end(&self) -> u64 {
        match &self.map {
            Some(map) if !self.translated => map.span().unwrap_or(1 << 32),
            _ => {
                if self.translated {
                    self.vertices
                } else {
                    self.first + self.vertices
                }
            }
        }
    }

    /// Notes that sorted ids have been replaced by vertex numbers.
    pub fn translate(&mut self) {
        self.translated = true;
    }

    /// Whether sorted ids are vertex numbers.
    pub fn is_translated(&self) -> bool {
        self.translated
    }

    /// Returns the original ids in vertex order.
    pub fn originals(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        match &self.map {
            Some(map) => Box::new(map.ids()),
            None => Box::new(self.first..self.first + self.vertices),
        }
    }

    /// Returns the original id of a sorted id, for error messages: takes time linear in the number of vertices.
    pub fn original(&self, id: u32) -> u64 {
        match &self.map {
            Some(map) if self.translated => map.ids().nth(id as usize).unwrap_or(id.into()),
            None if self.translated => self.first + u64::from(id),
            _ => id.into(),
        }
    }

    /// Returns the vertex with an original id, if there is one.
    pub fn vertex_of(&self, original: u64) -> Option<u32> {
        match &self.map {
            Some(map) => map.get(original).map(|vertex| vertex as u32),
            None => {
                original.checked_sub(self.first).filter(|&vertex| vertex < self.vertices).map(|vertex| vertex as u32)
            }
        }
    }

    /// Returns the vertex that a sorted id names.
    #[inline]
    pub fn vertex(&self, id: u32) -> u32 {
        match &self.map {
            _ if self.translated => id,
            Some(map) => map.vertex(id.into()) as u32,
            None => id - self.first as u32,
        }
    }
}
