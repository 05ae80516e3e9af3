//! A radix trie of byte strings, many roots in one arena, with a wildcard for one segment of a path.

/// Tries in one arena. A node's children lie together, so a step down is one search for a byte.
#[derive(Debug, Default)]
pub(crate) struct Trie {
    nodes: Vec<TrieNode>,
    /// The first byte of each node's label, or [`CAPTURE`].
    firsts: Vec<u8>,
    labels: Vec<u8>,
}

/// A node: what leads to it from its parent, and its value.
#[derive(Clone, Copy, Debug)]
struct TrieNode {
    /// A short label itself, so that nothing else is read for it.
    short_label: [u8; SHORT_LABEL_BYTES],
    label_len: u32,
    /// Where a long label lies.
    label_start: u32,
    children_start: u32,
    children_len: u32,
    value: u32,
}

/// A group of keys that become a node and those below it.
struct Pending {
    node: usize,
    keys: std::ops::Range<usize>,
    /// Bytes of the keys that the nodes above spell.
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

    /// Gives a node its label, value and children from its group of keys.
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

    /// What follows a node's label in `text`; `None` if that does not begin so. A wildcard's label is empty.
    pub(crate) fn strip_label<'t>(&self, node: u32, text: &'t [u8]) -> Option<&'t [u8]> {
        let label = self.label(node);
        // Comparing nothing is not free: of an empty arena it reads a dangling address, which some processors make slow.
        if label.is_empty() { Some(text) } else { text.strip_prefix(label) }
    }

    /// A node's label; a wildcard's is empty.
    pub(crate) fn label(&self, node: u32) -> &[u8] {
        let node = &self.nodes[node as usize];
        match node.short_label.get(..node.label_len as usize) {
            Some(short) => short,
            None => &self.labels[node.label_start as usize..(node.label_start + node.label_len) as usize],
        }
    }

    /// A node's value, or [`NO_VALUE`].
    pub(crate) fn value(&self, node: u32) -> u32 {
        self.nodes[node as usize].value
    }

    /// The child whose label begins with this byte, wildcards aside.
    pub(crate) fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let children = self.children(node);
        if byte == CAPTURE {
            return None;
        }
        let at = memchr::memchr(byte, &self.firsts[children.start as usize..children.end as usize])?;
        Some(children.start + index_u32(at))
    }

    /// The child that takes one segment, whatever it is.
    pub(crate) fn capture(&self, node: u32) -> Option<u32> {
        let children = self.children(node);
        let is_capture = !children.is_empty() && self.firsts[children.start as usize] == CAPTURE;
        is_capture.then_some(children.start)
    }

    /// The children of a node.
    pub(crate) fn children(&self, node: u32) -> std::ops::Range<u32> {
        let node = &self.nodes[node as usize];
        node.children_start..node.children_start + node.children_len
    }

    /// The first byte of a node's label, or [`CAPTURE`].
    pub(crate) fn first_byte(&self, node: u32) -> u8 {
        self.firsts[node as usize]
    }

    /// Nodes of all tries.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }
}

/// The length of what two keys begin with alike; a wildcard is a label of its own.
fn common_label(a: &[u8], b: &[u8]) -> usize {
    if a.first() == Some(&CAPTURE) {
        return 1;
    }
    a.iter().zip(b).take_while(|(a, b)| a == b && **a != CAPTURE).count()
}

fn index_u32(at: usize) -> u32 {
    u32::try_from(at).expect("the router refuses tables whose tries would be larger")
}

/// In a key, one whole segment of any bytes; no path holds this byte.
pub(crate) const CAPTURE: u8 = 0;

/// Longest label that lies in its node.
const SHORT_LABEL_BYTES: usize = 8;

/// The value of nodes that no key ends at.
pub(crate) const NO_VALUE: u32 = u32::MAX;
