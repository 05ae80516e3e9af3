//! Encoding of several consecutive values: the arguments of a call.

use eddy_bridge_shape::{shape_of_field, shape_of_name};

use super::traits::{BridgeRead, BridgeWrite, Wire};
use crate::message::{BridgeMessage, Malformed};
use crate::writer::MessageWriter;

macro_rules! tuple {
    ($($type:ident $value:ident),*) => {
        impl<$($type: Wire),*> Wire for ($($type,)*) {
            const WORDS: usize = 0 $(+ $type::WORDS)*;
            const SHAPE: u64 = {
                let shape = shape_of_name("tuple");
                $(let shape = shape_of_field(shape, "", $type::SHAPE);)*
                shape
            };
        }

        impl<$($type: BridgeWrite),*> BridgeWrite for ($($type,)*) {
            #[inline(always)]
            #[allow(unused_variables, unused_assignments, unused_mut, reason = "the tuple without values has no use for them")]
            fn write(&self, writer: &mut MessageWriter<'_>, mut at: usize) {
                let ($($value,)*) = self;
                $(
                    $value.write(writer, at);
                    at += $type::WORDS;
                )*
            }
        }

        impl<'m, $($type: BridgeRead<'m>),*> BridgeRead<'m> for ($($type,)*) {
            #[inline]
            #[allow(unused_variables, unused_assignments, unused_mut, reason = "the tuple without values has no use for them")]
            #[allow(clippy::unused_unit, reason = "the tuple without values is one")]
            fn read(message: BridgeMessage<'m>, mut at: usize) -> Result<Self, Malformed> {
                $(
                    let $value = $type::read(message, at)?;
                    at += $type::WORDS;
                )*
                Ok(($($value,)*))
            }
        }
    };
}

tuple!();
tuple!(A a);
tuple!(A a, B b);
tuple!(A a, B b, C c);
tuple!(A a, B b, C c, D d);
tuple!(A a, B b, C c, D d, E e);
tuple!(A a, B b, C c, D d, E e, F f);
tuple!(A a, B b, C c, D d, E e, F f, G g);
tuple!(A a, B b, C c, D d, E e, F f, G g, H h);
