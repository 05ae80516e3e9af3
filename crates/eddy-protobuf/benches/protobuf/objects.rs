//! The messages as prost types.

/// The message used in published comparisons.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Published {
    #[prost(int64, tag = "1")]
    pub(crate) recvtime: i64,
    #[prost(string, tag = "2")]
    pub(crate) uniqueid: String,
    #[prost(string, tag = "3")]
    pub(crate) token: String,
    #[prost(string, tag = "4")]
    pub(crate) phone: String,
    #[prost(string, tag = "5")]
    pub(crate) content: String,
    #[prost(string, tag = "6")]
    pub(crate) sign: String,
    #[prost(string, tag = "7")]
    pub(crate) r#type: String,
    #[prost(string, tag = "8")]
    pub(crate) extend: String,
    #[prost(string, tag = "9")]
    pub(crate) version: String,
}

/// A message with nested messages.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Catalog {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) items: Vec<ProstItem>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ProstItem {
    #[prost(string, tag = "1")]
    pub(crate) id: String,
    #[prost(string, tag = "2")]
    pub(crate) title: String,
    #[prost(int64, tag = "3")]
    pub(crate) stock: i64,
    #[prost(double, tag = "4")]
    pub(crate) price: f64,
    #[prost(int32, tag = "5")]
    pub(crate) status: i32,
    #[prost(bool, tag = "6")]
    pub(crate) is_new: bool,
    #[prost(string, repeated, tag = "7")]
    pub(crate) tags: Vec<String>,
    #[prost(int32, repeated, tag = "8")]
    pub(crate) sizes: Vec<i32>,
    #[prost(message, optional, tag = "9")]
    pub(crate) size: Option<ProstSize>,
    #[prost(message, optional, tag = "10")]
    pub(crate) created: Option<Timestamp>,
    #[prost(map = "string, string", tag = "11")]
    pub(crate) labels: std::collections::HashMap<String, String>,
    #[prost(bytes = "vec", tag = "12")]
    pub(crate) thumbnail: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ProstSize {
    #[prost(double, tag = "1")]
    pub(crate) width: f64,
    #[prost(double, tag = "2")]
    pub(crate) height: f64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Timestamp {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(crate) nanos: i32,
}
