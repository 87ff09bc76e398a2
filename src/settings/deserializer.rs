//! Reads a TOML value into a type, and knows the place of a mistake.
//!
//! Every type of the settings is compiled for each deserializer that reads it. This one does the
//! work of a TOML reader and of one that follows the path in a third of their code.

use std::cell::RefCell;

use serde::{
    de::{
        DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess,
        Unexpected, Visitor, value::Error,
    },
    forward_to_deserialize_any,
};
use toml::{Table, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(String),
    Item(usize),
}

/// Reads `table`.
///
/// # Errors
/// The path of the first mistake and what is wrong there. The path of an unknown key ends with that key or its table.
pub(super) fn read_table<T: DeserializeOwned>(table: Table) -> Result<T, (Vec<PathStep>, String)> {
    let trail = RefCell::default();
    let read = T::deserialize(Node { value: Value::Table(table), trail: &trail });
    read.map_err(|error| (trail.into_inner(), error.to_string()))
}

struct Node<'a> {
    value: Value,
    /// The path of the value that is being read. A failed read leaves it as it is.
    trail: &'a RefCell<Vec<PathStep>>,
}

impl<'de> Deserializer<'de> for Node<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::String(text) => visitor.visit_string(text),
            Value::Integer(number) => visitor.visit_i64(number),
            Value::Float(number) => visitor.visit_f64(number),
            Value::Boolean(truth) => visitor.visit_bool(truth),
            Value::Datetime(date) => visitor.visit_string(date.to_string()),
            Value::Array(items) => {
                let mut children = Children::of_list(items, self.trail);
                let value = visitor.visit_seq(&mut children)?;
                children.all_read("array").map(|()| value)
            }
            Value::Table(table) => {
                let mut children = Children::of_table(table, self.trail);
                let value = visitor.visit_map(&mut children)?;
                children.all_read("map").map(|()| value)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.value {
            Value::String(variant) => visitor.visit_enum(variant.into_deserializer()),
            _ => Err(Error::invalid_type(Unexpected::UnitVariant, &"string only")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// The items of a list, or the entries of a table. Its generic functions are compiled for every type of the settings, so they leave
/// the work to the others.
struct Children<'a> {
    left: std::vec::IntoIter<(PathStep, Value)>,
    length: usize,
    /// The entry after its key has been read.
    next: Option<(PathStep, Value)>,
    trail: &'a RefCell<Vec<PathStep>>,
}

impl<'a> Children<'a> {
    fn new(children: Vec<(PathStep, Value)>, trail: &'a RefCell<Vec<PathStep>>) -> Self {
        Self { length: children.len(), left: children.into_iter(), next: None, trail }
    }

    fn of_list(items: Vec<Value>, trail: &'a RefCell<Vec<PathStep>>) -> Self {
        let items = items.into_iter().enumerate().map(|(index, item)| (PathStep::Item(index), item));
        Self::new(items.collect(), trail)
    }

    fn of_table(table: Table, trail: &'a RefCell<Vec<PathStep>>) -> Self {
        Self::new(table.into_iter().map(|(key, value)| (PathStep::Key(key), value)).collect(), trail)
    }

    fn all_read(&self, kind: &str) -> Result<(), Error> {
        if self.left.len() == 0 {
            return Ok(());
        }
        Err(Error::invalid_length(self.length, &format!("fewer elements in {kind}").as_str()))
    }

    /// Goes a step down, and returns the depth before it, for [`leave`](Self::leave).
    fn enter(&self, step: PathStep) -> usize {
        let mut trail = self.trail.borrow_mut();
        trail.push(step);
        trail.len() - 1
    }

    fn leave(&self, depth: usize) {
        self.trail.borrow_mut().truncate(depth);
    }

    /// Enters the next child, and returns the depth before it and its value.
    fn enter_item(&mut self) -> Option<(usize, Node<'a>)> {
        let (step, value) = self.left.next()?;
        Some((self.enter(step), Node { value, trail: self.trail }))
    }

    /// Enters the next child for its key, and returns the depth before it and the key.
    fn enter_key(&mut self) -> Option<(usize, String)> {
        self.next = self.left.next();
        let Some((step @ PathStep::Key(key), _)) = &self.next else { return None };
        Some((self.enter(step.clone()), key.clone()))
    }

    /// Enters the child whose key was read last.
    fn enter_value(&mut self) -> Result<(usize, Node<'a>), Error> {
        let (step, value) = self.next.take().ok_or_else(|| Error::custom("a value without a key"))?;
        Ok((self.enter(step), Node { value, trail: self.trail }))
    }
}

impl<'de> SeqAccess<'de> for Children<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some((depth, node)) = self.enter_item() else { return Ok(None) };
        let value = seed.deserialize(node)?;
        self.leave(depth);
        Ok(Some(value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

impl<'de> MapAccess<'de> for Children<'_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some((depth, key)) = self.enter_key() else { return Ok(None) };
        let key = seed.deserialize(IntoDeserializer::<Error>::into_deserializer(key))?;
        self.leave(depth);
        Ok(Some(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let (depth, node) = self.enter_value()?;
        let value = seed.deserialize(node)?;
        self.leave(depth);
        Ok(value)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;
    use crate::settings::LogFormat;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Example {
        words: Vec<String>,
        format: Option<LogFormat>,
        #[serde(default)]
        below: BTreeMap<String, u8>,
    }

    fn read(text: &str) -> Result<Example, (Vec<PathStep>, String)> {
        read_table(text.parse().expect("TOML"))
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let example = read("words = [\"a\"]\nformat = \"json\"\nbelow = { x = 1 }").expect("right");
        let below = BTreeMap::from([("x".to_owned(), 1)]);
        assert_eq!(example, Example { words: vec!["a".to_owned()], format: Some(LogFormat::Json), below });
    }

    #[test]
    fn mistakes_name_their_place() {
        for (text, path, message) in [
            ("words = [\"a\", 1]", "words 1", "invalid type: integer `1`, expected a string"),
            ("words = []\nbelow = { x = 1, y = 300 }", "below y", "invalid value: integer `300`, expected u8"),
            ("words = []\nnew = 1", "new", "unknown field `new`, expected one of `words`, `format`, `below`"),
            ("below = {}", "", "missing field `words`"),
            ("words = []\nformat = 1", "format", "invalid type: unit variant, expected string only"),
            ("words = []\nformat = { json = 1 }", "format", "invalid type: unit variant, expected string only"),
            ("words = []\nformat = \"xml\"", "format", "unknown variant `xml`, expected `text` or `json`"),
        ] {
            let (steps, found) = read(text).expect_err(text);
            let steps = steps.iter().map(|step| match step {
                PathStep::Key(key) => key.clone(),
                PathStep::Item(index) => index.to_string(),
            });
            assert_eq!((steps.collect::<Vec<_>>().join(" ").as_str(), found.as_str()), (path, message));
        }
    }
}
