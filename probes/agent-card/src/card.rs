//! Whether the broker can use a card.
//!
//! A card offers interfaces: each entry of `supportedInterfaces` (A2A 1.x), then the root's `url` with its
//! `preferredTransport` and `additionalInterfaces` (A2A 0.x). It is usable when one of them has an absolute http(s) URL,
//! a binding and a version that the broker speaks. A missing version is the one of the shape.
//!
//! Besides that, only a `name` is asked for: an object without one is some other document. All else that a card has to
//! have by its specification is left unread, because real agents leave it out and can be talked to all the same. `null`
//! and a value of the wrong type are as good as nothing, and of two members with one name the last counts.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use kourier_probe_sdk::json::{self, ErrorKind, RawString, Reader};

use crate::protocol::{self, Shape, Stated};
use crate::url::{self, Reach, UrlFault};

/// How many faults of a card are told.
const TOLD: usize = 3;
/// How many interfaces of a list are judged, the rest is read over: a peer may send hundreds of thousands, and judging
/// them all would cost more CPU time than a run has.
const JUDGED: usize = 1000;
/// The same of all lists of a card, of which one may stand again and again.
const JUDGED_IN_ALL: usize = 4 * JUDGED;

/// Why a card is of no use, in words for the journal. They name members and rules, and quote nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No card, or one without what the broker needs.
    Invalid(String),
    /// A card with an endpoint, but none in a version and binding of ours.
    Unsupported(String),
}

/// Judges the body of an answer. `Ok` has what the operator may want to mend.
pub(crate) fn judge(body: &[u8]) -> Result<Vec<String>, Refusal> {
    if body.is_empty() {
        return Err(Refusal::Invalid("the answer is empty".into()));
    }
    let (card, is_object) = read(body).map_err(|error| Refusal::Invalid(format!("the answer {error}")))?;
    if !is_object {
        return Err(Refusal::Invalid("the answer is not a JSON object".into()));
    }
    let name = card.name.map(RawString::decode).unwrap_or_default();
    if name.chars().all(|char| char.is_whitespace() || char.is_control()) {
        return Err(Refusal::Invalid("name is missing or blank".into()));
    }
    card.judge()
}

/// The members that count.
#[derive(Default)]
struct Card<'a> {
    name: Option<RawString<'a>>,
    interfaces: Offers,
    url: Option<RawString<'a>>,
    preferred_transport: Option<RawString<'a>>,
    additional: Offers,
    version: Option<RawString<'a>>,
    has_authentication: bool,
    has_security_schemes: bool,
    /// Interfaces that were judged so far, those of lists that stand once more included.
    judged: usize,
}

fn read(body: &[u8]) -> Result<(Card<'_>, bool), json::Error> {
    let mut card = Card::default();
    let mut reader = Reader::new(body);
    let is_object = reader
        .object(&mut |reader, name| card.member(reader, &name.decode_name()))
        .and_then(|is_object| reader.end().map(|()| is_object))
        .map_err(|kind| reader.error(kind))?;
    Ok((card, is_object))
}

impl<'a> Card<'a> {
    fn member(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<(), ErrorKind> {
        match name {
            "name" => self.name = reader.value()?.as_string(),
            "supportedInterfaces" => {
                self.interfaces = Offers::read(reader, "supportedInterfaces", Shape::Interface, &mut self.judged)?;
            }
            "url" => self.url = reader.value()?.as_string(),
            "preferredTransport" => self.preferred_transport = reader.value()?.as_string(),
            "additionalInterfaces" => {
                self.additional = Offers::read(reader, "additionalInterfaces", Shape::Legacy, &mut self.judged)?;
            }
            "protocolVersion" => self.version = reader.value()?.as_string(),
            "authentication" => {
                self.has_authentication = true;
                reader.skip()?;
            }
            "securitySchemes" => {
                self.has_security_schemes = true;
                reader.skip()?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    }

    fn judge(mut self) -> Result<Vec<String>, Refusal> {
        let mut offers = core::mem::take(&mut self.interfaces);
        // Beside interfaces the root's version is noise: cards say 0.2.9 or 1.2 there and mean neither.
        let root_version = if offers.count == 0 { self.root_version() } else { Stated::Nothing };
        if let Some(url) = self.url {
            offers.add(Place::Root, self.root_interface(url, root_version));
            let mut additional = core::mem::take(&mut self.additional);
            if root_version == Stated::Other {
                additional.usable = None;
            }
            offers.append(additional);
        }
        match offers.usable {
            Some(usable) => Ok(self.advice(&usable, root_version)),
            None if offers.count == 0 => {
                Err(Refusal::Invalid("the card has neither supportedInterfaces nor url".into()))
            }
            None if offers.is_dialable => Err(Refusal::Unsupported(offers.faults.join("; "))),
            None => Err(Refusal::Invalid(offers.faults.join("; "))),
        }
    }

    fn root_version(&self) -> Stated {
        protocol::version(self.version.map(RawString::decode).as_deref(), Shape::Legacy)
    }

    fn root_interface(&self, url: RawString<'a>, version: Stated) -> Interface {
        let binding = match protocol::binding(self.preferred_transport.map(RawString::decode).as_deref()) {
            // The specification of 0.3 says so.
            Stated::Nothing => Stated::Ours,
            stated => stated,
        };
        Interface { url: url::judge(&url.decode()), binding, version }
    }

    fn advice(&self, usable: &Usable, root_version: Stated) -> Vec<String> {
        let mut advice = Vec::new();
        let place = usable.place;
        match usable.reach {
            Reach::Host => {}
            Reach::Loopback => advice.push(format!("{place}url names a loopback address: who follows it finds itself")),
            Reach::Unspecified => advice.push(format!("{place}url names an address to listen on, not one to call")),
        }
        if matches!(place, Place::Entry("supportedInterfaces", _)) {
            if usable.version == Stated::Nothing {
                advice.push(format!("{place}protocolVersion is missing: read as 1.0"));
            }
        } else if root_version == Stated::Nothing && self.has_authentication && !self.has_security_schemes {
            advice.push("the card looks like one of A2A 0.1, whose calls the broker does not make: read as 0.3".into());
        } else if self.says_one_in_the_legacy_shape(root_version) {
            advice.push("protocolVersion says 1.x, but the card has no supportedInterfaces".into());
        }
        advice
    }

    fn says_one_in_the_legacy_shape(&self, root_version: Stated) -> bool {
        let version = self.version.map(RawString::decode).unwrap_or_default();
        let is_one = protocol::major_minor(version.trim()).is_some_and(|(major, _)| major == 1);
        root_version == Stated::Ours && is_one
    }
}

/// Where an interface stands in a card. It prints as what comes before the name of a member.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Entry(&'static str, usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Entry(list, index) => write!(f, "{list}[{index}]."),
        }
    }
}

/// An interface as far as it was judged.
struct Interface {
    url: Result<Reach, UrlFault>,
    binding: Stated,
    version: Stated,
}

impl Interface {
    /// Reads an entry of a list. What is not an object is an entry without members.
    fn read(reader: &mut Reader<'_>, shape: Shape) -> Result<Self, ErrorKind> {
        let (mut url, mut version, mut binding, mut transport) = (None, None, None, None);
        reader.object(&mut |reader, name| {
            match &*name.decode_name() {
                "url" => url = reader.value()?.as_string(),
                "protocolBinding" => binding = reader.value()?.as_string(),
                "transport" => transport = reader.value()?.as_string(),
                "protocolVersion" => version = reader.value()?.as_string(),
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        let binding = match protocol::binding(binding.map(RawString::decode).as_deref()) {
            // The name of 0.3, and of drafts of 1.0.
            Stated::Nothing => protocol::binding(transport.map(RawString::decode).as_deref()),
            stated => stated,
        };
        let version = match shape {
            // In a list of 0.x the root says the version.
            Shape::Legacy => Stated::Nothing,
            Shape::Interface => protocol::version(version.map(RawString::decode).as_deref(), shape),
        };
        Ok(Self { url: url::judge(&url.map(RawString::decode).unwrap_or_default()), binding, version })
    }
}

/// The interface that makes a card usable.
struct Usable {
    place: Place,
    reach: Reach,
    version: Stated,
}

/// What a list of interfaces comes to. The list itself is not kept: a peer may make it long.
#[derive(Default)]
struct Offers {
    count: usize,
    /// The first that the broker can use.
    usable: Option<Usable>,
    /// Whether one has a URL that can be used, whatever it speaks.
    is_dialable: bool,
    /// What is wrong with the first ones.
    faults: Vec<String>,
}

impl Offers {
    fn read(reader: &mut Reader<'_>, list: &'static str, shape: Shape, judged: &mut usize) -> Result<Self, ErrorKind> {
        let mut offers = Self::default();
        reader.array(&mut |reader| {
            if offers.count == JUDGED || *judged == JUDGED_IN_ALL {
                return reader.skip();
            }
            *judged += 1;
            let interface = Interface::read(reader, shape)?;
            offers.add(Place::Entry(list, offers.count), interface);
            Ok(())
        })?;
        Ok(offers)
    }

    fn add(&mut self, place: Place, Interface { url, binding, version }: Interface) {
        self.count += 1;
        if url.is_err() && self.faults.len() >= TOLD {
            return;
        }
        let fault = match url {
            Err(fault) => format!("{place}url {fault}"),
            Ok(_) if version == Stated::Other => format!("{place}protocolVersion is none that the broker speaks"),
            Ok(_) if binding != Stated::Ours => match place {
                Place::Root => "preferredTransport is none that the broker speaks".into(),
                Place::Entry(..) => format!("{place}protocolBinding is missing or none that the broker speaks"),
            },
            Ok(reach) => {
                self.is_dialable = true;
                self.usable.get_or_insert(Usable { place, reach, version });
                return;
            }
        };
        self.is_dialable |= url.is_ok();
        if self.faults.len() < TOLD {
            self.faults.push(fault);
        }
    }

    fn append(&mut self, other: Self) {
        self.count += other.count;
        self.usable = self.usable.take().or(other.usable);
        self.is_dialable |= other.is_dialable;
        self.faults.extend(other.faults);
        self.faults.truncate(TOLD);
    }
}

#[cfg(test)]
mod tests;
