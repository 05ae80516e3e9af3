//! A radix trie of byte strings, many roots in one arena, with a wildcard for one segment of a path.

/// Tries in one arena. The children of a node are adjacent, so that a step down is one search for a byte.
#[derive(Debug, Default)]
pub(crate) struct Trie {
    nodes: Vec<TrieNode>,
    /// The first byte of each node's label, or [`CAPTURE`].
    firsts: Vec<u8>,
    labels: Vec<u8>,
}

/// A node: the label on the edge from its parent, and its value.
#[derive(Clone, Copy, Debug)]
struct TrieNode {
    /// A short label itself, so that no other memory is read for it.
    short_label: [u8; SHORT_LABEL_BYTES],
    label_len: u32,
    /// Start of a long label.
    label_start: u32,
    children_start: u32,
    children_len: u32,
    value: u32,
}

/// A group of keys that become a node and its descendants.
struct Pending {
    node: usize,
    keys: std::ops::Range<usize>,
    /// Length of the key prefix covered by the nodes above.
    depth: usize,
}

impl Trie {
    /// Adds a trie of these keys, sorted and distinct, each with a value; returns its root.
    ///
    /// Nodes come after their parents.
    pub(crate) fn add(&mut self, keys: &[(&[u8], u32)]) -> u32 {
        debug_assert!(keys.is_sorted_by(|a, b| a.0 < b.0), "keys are sorted and distinct");
        let root = self.nodes.len();
        self.push_node(0);
        let mut pending = std::collections::VecDeque::new();
        pending.push_back(Pending { node: root, keys: 0..keys.len(), depth: 0 });
        while let Some(next) = pending.pop_front() {
            self.fill(&next, keys, &mut pending);
        }
        index_u32(root)
    }

    /// Sets label, value and children of a node from its group of keys.
    fn fill(
        &mut self,
        group: &Pending,
        keys: &[(&[u8], u32)],
        pending: &mut std::collections::VecDeque<Pending>,
    ) {
        let members = &keys[group.keys.clone()];
        let (Some(first), Some(last)) = (members.first(), members.last()) else { return };
        let label = common_label(&first.0[group.depth..], &last.0[group.depth..]);
        let depth = group.depth + label;
        let mut start = group.keys.start;
        if first.0.get(group.depth) != Some(&CAPTURE) {
            self.set_label(group.node, &first.0[group.depth..depth]);
        }
        if first.0.len() == depth {
            self.nodes[group.node].value = first.1;
            start += 1;
        }
        self.nodes[group.node].children_start = index_u32(self.nodes.len());
        while start < group.keys.end {
            let byte = keys[start].0[depth];
            let len = keys[start..group.keys.end].partition_point(|key| key.0[depth] == byte);
            self.nodes[group.node].children_len += 1;
            pending.push_back(Pending { node: self.nodes.len(), keys: start..start + len, depth });
            self.push_node(byte);
            start += len;
        }
    }

    fn set_label(&mut self, node: usize, label: &[u8]) {
        let node = &mut self.nodes[node];
        node.label_len = index_u32(label.len());
        match node.short_label.get_mut(..label.len()) {
            Some(short) => short.copy_from_slice(label),
            None => {
                node.label_start = index_u32(self.labels.len());
                self.labels.extend_from_slice(label);
            }
        }
    }

    fn push_node(&mut self, first: u8) {
        self.firsts.push(first);
        self.nodes.push(TrieNode {
            short_label: [0; SHORT_LABEL_BYTES],
            label_len: 0,
            label_start: 0,
            children_start: 0,
            children_len: 0,
            value: NO_VALUE,
        });
    }

    /// Walks down along a path from a node at its offset `at`, and calls `visit` with the value of each key met and the
    /// next byte of the path; a wildcard on the way is pushed as another branch. Returns the number of steps.
    #[inline]
    pub(crate) fn walk(
        &self,
        mut node: u32,
        mut at: usize,
        path: &[u8],
        branches: &mut Vec<(u32, usize)>,
        mut visit: impl FnMut(u32, Option<u8>),
    ) -> u32 {
        let mut steps = 0;
        while let Some(after) = path.get(at..).and_then(|rest| self.strip_label(node, rest)) {
            at = path.len() - after.len();
            steps += 1;
            let next = after.first().copied();
            let value = self.value(node);
            if value != NO_VALUE {
                visit(value, next);
            }
            let Some(next) = next else { break };
            if let Some(capture) = self.capture(node).filter(|_| next != b'/') {
                let len = memchr::memchr(b'/', after).unwrap_or(after.len());
                branches.push((capture, at + len));
            }
            match self.child(node, next) {
                Some(child) => node = child,
                None => break,
            }
        }
        steps
    }

    /// Returns the rest of `text` after a node's label; `None` if `text` does not begin with it. The label of a
    /// wildcard is empty.
    pub(crate) fn strip_label<'t>(&self, node: u32, text: &'t [u8]) -> Option<&'t [u8]> {
        let label = self.label(node);
        // Comparing empty slices is not free: with an empty arena it reads a dangling address, which is slow on some
        // processors.
        if label.is_empty() { Some(text) } else { text.strip_prefix(label) }
    }

    /// Returns a node's label; empty for a wildcard.
    pub(crate) fn label(&self, node: u32) -> &[u8] {
        let node = &self.nodes[node as usize];
        match node.short_label.get(..node.label_len as usize) {
            Some(short) => short,
            None => &self.labels[node.label_start as usize..(node.label_start + node.label_len) as usize],
        }
    }

    /// Returns a node's value, or [`NO_VALUE`].
    pub(crate) fn value(&self, node: u32) -> u32 {
        self.nodes[node as usize].value
    }

    /// Returns the child whose label begins with this byte, except wildcards.
    pub(crate) fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let children = self.children(node);
        if byte == CAPTURE {
            return None;
        }
        let at = memchr::memchr(byte, &self.firsts[children.start as usize..children.end as usize])?;
        Some(children.start + index_u32(at))
    }

    /// Returns the child that matches one segment with any text.
    pub(crate) fn capture(&self, node: u32) -> Option<u32> {
        let children = self.children(node);
        let is_capture = !children.is_empty() && self.firsts[children.start as usize] == CAPTURE;
        is_capture.then_some(children.start)
    }

    /// Returns the children of a node.
    pub(crate) fn children(&self, node: u32) -> std::ops::Range<u32> {
        let node = &self.nodes[node as usize];
        node.children_start..node.children_start + node.children_len
    }

    /// Returns the first byte of a node's label, or [`CAPTURE`].
    pub(crate) fn first_byte(&self, node: u32) -> u8 {
        self.firsts[node as usize]
    }

    /// Returns the number of nodes of all tries.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }
}

/// Returns the length of the common beginning of two keys; a wildcard is a label of its own.
fn common_label(a: &[u8], b: &[u8]) -> usize {
    if a.first() == Some(&CAPTURE) {
        return 1;
    }
    a.iter().zip(b).take_while(|(a, b)| a == b && **a != CAPTURE).count()
}

fn index_u32(at: usize) -> u32 {
    u32::try_from(at).expect("the router refuses tables whose tries would be larger")
}

/// In a key, one whole segment of any bytes; no path contains this byte.
pub(crate) const CAPTURE: u8 = 0;

/// Maximum length of a label that is stored in its node.
const SHORT_LABEL_BYTES: usize = 8;

/// Value of nodes at which no key ends.
pub(crate) const NO_VALUE: u32 = u32::MAX;
