//! Reads a TOML value into a type, follows what the types inherit, and knows the place of a mistake.
//!
//! Every type of the settings is compiled for each deserializer that reads it. This one does the
//! work of a TOML reader and of one that follows the path in a third of their code.
//!
//! Some keys are written once and count in several places: those of `challenge` for humans and bots,
//! those of `matchmaking` for all types, those of `player` for all profiles. The types say so:
//! a field read [`as_base`](util::values::as_base) gives later tables of its type the values of keys
//! that they lack, and a field named [`OTHERS`] has the keys of the table around it.
//! (`#[serde(flatten)]` would lose the place of a mistake.)

use std::{cell::RefCell, collections::BTreeMap};

use serde::{
    de::{
        DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess,
        Unexpected, Visitor, value::Error,
    },
    forward_to_deserialize_any,
};
use toml::{Table, Value};

use super::values::Path;
use util::values::{BASE, OTHERS};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(String),
    Item(usize),
}

/// The places of inherited values, by the places where they count.
pub(super) type Inherited = BTreeMap<Path, Path>;

/// Reads `table`.
///
/// # Errors
/// The path of the first mistake, where it was written, and what is wrong there. The path of an unknown key ends with that key.
pub(super) fn read_table<T: DeserializeOwned>(table: Table) -> Result<(T, Inherited), (Vec<PathStep>, String)> {
    let reading = Reading::default();
    match T::deserialize(Node::new(Value::Table(table), Vec::new(), &reading)) {
        Ok(settings) => Ok((settings, reading.inherited.into_inner())),
        Err(error) => Err((reading.place.into_inner(), error.to_string())),
    }
}

pub(super) fn keys(steps: &[PathStep]) -> Path {
    let key = |step: &PathStep| match step {
        PathStep::Key(key) => Some(key.clone()),
        PathStep::Item(_) => None,
    };
    steps.iter().filter_map(key).collect()
}

#[derive(Default)]
struct Reading {
    /// The place of the value that is being read. A failed read leaves it as it is.
    place: RefCell<Vec<PathStep>>,
    /// The bases and their places, by the name of their type.
    bases: RefCell<BTreeMap<&'static str, (Table, Vec<PathStep>)>>,
    inherited: RefCell<Inherited>,
}

struct Node<'a> {
    value: Value,
    /// The place where the value was written.
    place: Vec<PathStep>,
    is_base: bool,
    /// The table with the values of keys that this one lacks, and its place.
    base: Option<(Table, Vec<PathStep>)>,
    /// Fields of the table around it, if this is its field [`OTHERS`].
    beside: &'static [&'static str],
    reading: &'a Reading,
}

impl<'a> Node<'a> {
    const fn new(value: Value, place: Vec<PathStep>, reading: &'a Reading) -> Self {
        Self { value, place, is_base: false, base: None, beside: &[], reading }
    }

    /// Returns the entries of a table: its own, and those it inherits.
    fn entries(self, own: Table) -> Vec<(String, Self)> {
        let (mut base, from) = self.base.unwrap_or_default();
        let at = |place: &[PathStep], key: &str| [place, &[PathStep::Key(key.to_owned())]].concat();
        let mut entries = Vec::with_capacity(own.len() + base.len());
        for (key, value) in own {
            let base = match base.remove(&key) {
                Some(Value::Table(table)) => Some((table, at(&from, &key))),
                _ => None,
            };
            let node = Node { base, ..Self::new(value, at(&self.place, &key), self.reading) };
            entries.push((key, node));
        }
        for (key, value) in base {
            let written = at(&from, &key);
            self.reading.inherited.borrow_mut().insert(keys(&at(&self.place, &key)), keys(&written));
            entries.push((key, Self::new(value, written, self.reading)));
        }
        entries
    }

    /// Returns the entries of a type's fields, in the order of the fields. [`OTHERS`] has the keys of no other field.
    ///
    /// # Errors
    /// For a key of no field.
    fn fields(self, own: Table, fields: &'static [&'static str]) -> Result<Vec<(String, Self)>, Error> {
        let (place, beside, reading) = (self.place.clone(), self.beside, self.reading);
        let (mut known, others): (Vec<_>, Vec<_>) =
            self.entries(own).into_iter().partition(|(key, _)| key != OTHERS && fields.contains(&key.as_str()));
        if fields.contains(&OTHERS) {
            let value = Value::Table(others.into_iter().map(|(key, node)| (key, node.value)).collect());
            known.push((OTHERS.to_owned(), Node { beside: fields, ..Self::new(value, place, reading) }));
        } else if let Some((key, node)) = others.into_iter().next() {
            *reading.place.borrow_mut() = node.place;
            let known = fields.iter().chain(beside).filter(|field| **field != OTHERS);
            let known: Vec<String> = known.map(|field| format!("`{field}`")).collect();
            return Err(Error::custom(format_args!("unknown field `{key}`, expected one of {}", known.join(", "))));
        }
        known.sort_by_key(|(key, _)| fields.iter().position(|field| field == key));
        Ok(known)
    }
}

impl<'de> Deserializer<'de> for Node<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        match std::mem::replace(&mut self.value, Value::Boolean(false)) {
            Value::String(text) => visitor.visit_string(text),
            Value::Integer(number) => visitor.visit_i64(number),
            Value::Float(number) => visitor.visit_f64(number),
            Value::Boolean(truth) => visitor.visit_bool(truth),
            Value::Datetime(date) => visitor.visit_string(date.to_string()),
            Value::Array(items) => {
                let mut children = Children::of_list(items, self.place, self.reading);
                let value = visitor.visit_seq(&mut children)?;
                children.all_read("array").map(|()| value)
            }
            Value::Table(table) => {
                let (place, reading) = (self.place.clone(), self.reading);
                Children::new(self.entries(table), place, reading).read_map(visitor)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(Node { is_base: name == BASE, ..self })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Value::Table(table) = &mut self.value else { return self.deserialize_any(visitor) };
        let table = std::mem::take(table);
        let (place, reading) = (self.place.clone(), self.reading);
        if self.is_base {
            reading.bases.borrow_mut().insert(name, (table.clone(), place.clone()));
        } else if let Some(base) = reading.bases.borrow().get(name) {
            self.base = Some(base.clone());
        }
        Children::new(self.fields(table, fields)?, place, reading).read_map(visitor)
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
        tuple_struct map identifier ignored_any
    }
}

/// The items of a list, or the entries of a table. Its generic functions are compiled for every type of the settings, so they leave
/// the work to the others.
struct Children<'a> {
    left: std::vec::IntoIter<(String, Node<'a>)>,
    length: usize,
    /// The value whose key has been read.
    next: Option<Node<'a>>,
    /// The place of the list or table.
    place: Vec<PathStep>,
    reading: &'a Reading,
}

impl<'a> Children<'a> {
    fn new(children: Vec<(String, Node<'a>)>, place: Vec<PathStep>, reading: &'a Reading) -> Self {
        Self { length: children.len(), left: children.into_iter(), next: None, place, reading }
    }

    fn of_list(items: Vec<Value>, place: Vec<PathStep>, reading: &'a Reading) -> Self {
        let items = items.into_iter().enumerate().map(|(index, item)| {
            let place = [&place[..], &[PathStep::Item(index)]].concat();
            (String::new(), Node::new(item, place, reading))
        });
        Self::new(items.collect(), place, reading)
    }

    fn read_map<'de, V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        let value = visitor.visit_map(&mut self)?;
        self.all_read("map").map(|()| value)
    }

    fn all_read(&self, kind: &str) -> Result<(), Error> {
        if self.left.len() == 0 {
            return Ok(());
        }
        Err(Error::invalid_length(self.length, &format!("fewer elements in {kind}").as_str()))
    }

    /// Enters the next child, and returns its key and the value.
    fn enter(&mut self) -> Option<(String, Node<'a>)> {
        let child = self.left.next()?;
        self.reading.place.borrow_mut().clone_from(&child.1.place);
        Some(child)
    }

    /// Enters the next child for its key.
    fn enter_key(&mut self) -> Option<String> {
        let (key, value) = self.enter()?;
        self.next = Some(value);
        Some(key)
    }

    /// Returns the child whose key was read last.
    fn entered(&mut self) -> Result<Node<'a>, Error> {
        self.next.take().ok_or_else(|| Error::custom("a value without a key"))
    }

    fn leave(&self) {
        self.reading.place.borrow_mut().clone_from(&self.place);
    }
}

impl<'de> SeqAccess<'de> for Children<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some((_, item)) = self.enter() else { return Ok(None) };
        let value = seed.deserialize(item)?;
        self.leave();
        Ok(Some(value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

impl<'de> MapAccess<'de> for Children<'_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some(key) = self.enter_key() else { return Ok(None) };
        seed.deserialize(IntoDeserializer::<Error>::into_deserializer(key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let value = seed.deserialize(self.entered()?)?;
        self.leave();
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
        read_table(text.parse().expect("TOML")).map(|(example, _)| example)
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
    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Terms {
        least: u8,
        most: u8,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Heirs {
        count: u8,
        #[serde(rename = "*", deserialize_with = "util::values::as_base")]
        all: Terms,
        heir: Terms,
    }

    #[test]
    fn missing_keys_are_inherited_with_their_place() {
        let read = |text: &str| read_table::<Heirs>(text.parse().expect("TOML"));
        let (heirs, inherited) = read("heir = { most = 3 }\nleast = 1\nmost = 2\ncount = 4").expect("right");
        let (all, heir) = (Terms { least: 1, most: 2 }, Terms { least: 1, most: 3 });
        assert_eq!(heirs, Heirs { count: 4, all, heir });
        let path = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Path>();
        assert_eq!(inherited, Inherited::from([(path(&["heir", "least"]), path(&["least"]))]));
        let (steps, message) = read("heir = { lest = 3 }\ncount = 4").expect_err("unknown");
        assert_eq!(keys(&steps), ["heir", "lest"]);
        assert!(message.starts_with("unknown field `lest`"), "{message}");
    }
}
