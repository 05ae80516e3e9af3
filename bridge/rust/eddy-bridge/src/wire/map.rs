//! Encoding of maps, as lists of a key and a value.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

use eddy_bridge_shape::{shape_of_field, shape_of_name};

use super::traits::{BridgeRead, BridgeWrite, Wire};
use crate::message::{BridgeMessage, Malformed};
use crate::writer::MessageWriter;

const fn shape(key: u64, value: u64) -> u64 {
    shape_of_field(shape_of_field(shape_of_name("map"), "", key), "", value)
}

fn write<'v, K: BridgeWrite + 'v, V: BridgeWrite + 'v>(
    pairs: impl ExactSizeIterator<Item = (&'v K, &'v V)>,
    writer: &mut MessageWriter<'_>,
    at: usize,
) {
    let first = writer.records(at, pairs.len(), <(K, V)>::WORDS);
    for (index, pair) in pairs.enumerate() {
        pair.write(writer, first + index * <(K, V)>::WORDS);
    }
}

impl<K: Wire, V: Wire> Wire for BTreeMap<K, V> {
    const WORDS: usize = 2;
    const SHAPE: u64 = shape(K::SHAPE, V::SHAPE);
}

impl<K: BridgeWrite, V: BridgeWrite> BridgeWrite for BTreeMap<K, V> {
    fn write(&self, writer: &mut MessageWriter<'_>, at: usize) {
        write(self.iter(), writer, at);
    }
}

impl<'m, K: BridgeRead<'m> + Ord, V: BridgeRead<'m>> BridgeRead<'m> for BTreeMap<K, V> {
    fn read(message: BridgeMessage<'m>, at: usize) -> Result<Self, Malformed> {
        Ok(<(K, V)>::read_list(message, at)?.into_iter().collect())
    }
}

impl<K: Wire, V: Wire, S> Wire for HashMap<K, V, S> {
    const WORDS: usize = 2;
    const SHAPE: u64 = shape(K::SHAPE, V::SHAPE);
}

impl<K: BridgeWrite, V: BridgeWrite, S> BridgeWrite for HashMap<K, V, S> {
    fn write(&self, writer: &mut MessageWriter<'_>, at: usize) {
        write(self.iter(), writer, at);
    }
}

impl<'m, K: BridgeRead<'m> + Eq + Hash, V: BridgeRead<'m>, S: BuildHasher + Default> BridgeRead<'m>
    for HashMap<K, V, S>
{
    fn read(message: BridgeMessage<'m>, at: usize) -> Result<Self, Malformed> {
        Ok(<(K, V)>::read_list(message, at)?.into_iter().collect())
    }
}
