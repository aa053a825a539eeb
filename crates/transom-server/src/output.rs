//! What a tool takes and returns, as its types say.

use std::any::TypeId;
use std::marker::PhantomData;
use std::sync::Arc;

use rmcp::Json;
use rmcp::handler::server::common::schema_for_empty_input;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::JsonObject;
use schemars::JsonSchema;

use crate::shown::Shown;

/// What a tool returns that has data: `#[transom_server::tool]` writes its `outputSchema` from the type, by whatever
/// name it goes.
///
/// ```
/// use transom_server::{Output, Shown};
/// /// What all tools of a server return.
/// struct Signed<T>(Shown<T>);
/// impl<T> Output for Signed<T> {
///     type Data = T;
/// }
/// ```
pub trait Output {
    /// What the view gets.
    type Data;
}

impl<T> Output for Shown<T> {
    type Data = T;
}

impl<T> Output for Json<T> {
    type Data = T;
}

impl<T: Output, E> Output for Result<T, E> {
    type Data = T::Data;
}

/// The type that a tool returns. What the macros write asks it for its schema: the method here is taken where the type
/// has data, and that of [`Untyped`] where it has none.
#[doc(hidden)]
#[derive(Debug)]
pub struct Returned<R>(PhantomData<R>);

impl<R: Output> Returned<R> {
    /// The schema of its data. The bound is on the function, so that a type without a schema is an error and not a
    /// tool without one.
    pub fn schema() -> Option<Arc<JsonObject>>
    where
        R::Data: JsonSchema + 'static,
    {
        // Nothing for the view has no schema.
        let nothing = TypeId::of::<R::Data>() == TypeId::of::<()>();
        (!nothing).then(crate::output_schema::<R::Data>)
    }
}

/// A type of which a tool's schemas say nothing.
#[doc(hidden)]
pub trait Untyped {
    /// None.
    fn schema() -> Option<Arc<JsonObject>> {
        None
    }
}

impl<R> Untyped for Returned<R> {}
impl<A> Untyped for Taken<A> {}

/// The type of one argument of a tool.
#[doc(hidden)]
#[derive(Debug)]
pub struct Taken<A>(PhantomData<A>);

impl<T> Taken<Parameters<T>> {
    /// The schema of the parameters.
    pub fn schema() -> Option<Arc<JsonObject>>
    where
        T: JsonSchema + 'static,
    {
        Some(crate::input_schema::<T>())
    }
}

/// What a tool without parameters takes.
#[doc(hidden)]
pub fn no_input() -> Arc<JsonObject> {
    schema_for_empty_input()
}
