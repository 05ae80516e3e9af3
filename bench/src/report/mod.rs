//! Reports: statistics, the results file, the table and the chart.

pub mod chart;
mod drawing;
pub mod file;
pub mod filters;
#[cfg(test)]
mod fixture;
pub mod left;
pub mod protobuf;
pub mod results;
pub mod routes;
pub mod statistics;
pub mod summary;
pub mod table;
