//! Components are written section by section, because most of these are none that a tool would write.

use super::*;

/// What an instance comes to of which it cannot be told what it is made of.
const UNKNOWN: u64 = u64::MAX;

const MODULE: [u8; 8] = *b"\0asm\x01\0\0\0";

/// A number as WebAssembly writes it (LEB128).
fn number(value: usize) -> Vec<u8> {
    let low = u8::try_from(value & 0x7f).unwrap();
    if value < 0x80 { vec![low] } else { [vec![low | 0x80], number(value >> 7)].concat() }
}

fn section(id: u8, content: &[u8]) -> Vec<u8> {
    [&[id][..], &number(content.len()), content].concat()
}

/// A section that lists this, so often.
fn list(id: u8, item: &[u8], count: usize) -> Vec<u8> {
    section(id, &[number(count), item.repeat(count)].concat())
}

fn component(sections: &[Vec<u8>]) -> Vec<u8> {
    [b"\0asm\x0d\0\x01\0".to_vec(), sections.concat()].concat()
}

/// So many instances of core modules.
fn core(count: usize) -> Vec<u8> {
    list(2, &[0, 0, 0], count)
}

/// A component that is made of so many instances.
fn of(instances: usize) -> Vec<u8> {
    component(&[core(instances)])
}

fn module() -> Vec<u8> {
    section(1, &MODULE)
}

fn nested(component: &[u8]) -> Vec<u8> {
    section(4, component)
}

/// An instance of the component of this index.
fn instance(index: u8) -> Vec<u8> {
    list(5, &[0, index, 0], 1)
}

/// The component of this index in the component that lies so many around this one.
fn outer(count: u8, index: u8) -> Vec<u8> {
    list(6, &[4, 2, count, index], 1)
}

/// A component that an instance exports.
fn exported_by_an_instance() -> Vec<u8> {
    list(6, &[4, 0, 0, 1, b'x'], 1)
}

fn imported() -> Vec<u8> {
    list(10, &[0, 1, b'x', 4, 0], 1)
}

/// The component of this index, exported.
fn exported(index: u8) -> Vec<u8> {
    list(11, &[0, 1, b'x', 4, index, 0], 1)
}

fn check(sections: &[Vec<u8>], want: u64) {
    assert_eq!(instances(&component(sections)), Ok(want), "{sections:02x?}");
}

#[test]
fn what_is_made_counts_and_what_only_stands_there_does_not() {
    check(&[], 0);
    check(&[module(), nested(&of(5))], 0);
    check(&[module(), core(3), core(2)], 5);
    // Of exports: of a core instance, and of a component's.
    check(&[list(2, &[1, 0], 3), list(5, &[1, 0], 4)], 7);
    check(&[nested(&component(&[module(), core(1)])), instance(0)], 2);
}

#[test]
fn an_instance_of_a_component_counts_with_all_that_it_is_made_of() {
    check(&[nested(&of(5)), instance(0)], 6);
    check(&[nested(&of(5)), list(5, &[0, 0, 0], 10), core(1)], 61);
    let deep = component(&[nested(&of(5)), instance(0), instance(0)]);
    check(&[nested(&deep), instance(0), instance(0)], 26);
}

#[test]
fn each_way_to_name_a_component_takes_the_next_index() {
    check(&[nested(&of(5)), nested(&of(7)), instance(1)], 8);
    check(&[nested(&of(5)), exported(0), nested(&of(7)), instance(2)], 8);
    check(&[nested(&of(5)), exported(0), instance(1)], 6);
    check(&[nested(&of(5)), outer(0, 0), nested(&of(7)), instance(2)], 8);
    check(&[nested(&of(5)), outer(0, 0), instance(1)], 6);
    check(&[imported(), nested(&of(7)), instance(1)], 8);
    check(&[exported_by_an_instance(), nested(&of(7)), instance(1)], 8);
}

#[test]
fn what_is_no_component_takes_no_index() {
    let others = [
        module(),
        // Imports of a module, a function and an instance.
        list(10, &[0, 1, b'x', 0, 0x11, 0], 1),
        list(10, &[0, 1, b'x', 1, 0], 1),
        list(10, &[0, 1, b'x', 5, 0], 1),
        // Exports of a function and an instance.
        list(11, &[0, 1, b'x', 1, 0, 0], 1),
        list(11, &[0, 1, b'x', 5, 0, 0], 1),
        // A type and a module of a component around it, a function of an instance, and of a core instance.
        list(6, &[3, 2, 1, 0], 1),
        list(6, &[0, 0x11, 2, 1, 0], 1),
        list(6, &[1, 0, 0, 1, b'x'], 1),
        list(6, &[0, 0, 1, 0, 1, b'x'], 1),
    ];
    for other in others {
        check(&[other, nested(&of(7)), instance(0)], 8);
    }
}

#[test]
fn a_component_of_one_around_it_is_found_there() {
    let inner = |count, index| component(&[nested(&of(1)), outer(count, index), instance(1)]);
    check(&[nested(&of(5)), nested(&inner(0, 0)), instance(1)], 3);
    check(&[nested(&of(5)), nested(&of(7)), nested(&inner(1, 1)), instance(2)], 9);
    let middle = |count, index| component(&[nested(&of(20)), nested(&inner(count, index)), instance(1)]);
    check(&[nested(&of(5)), nested(&middle(1, 0)), instance(1)], 23);
    check(&[nested(&of(5)), nested(&middle(2, 0)), instance(1)], 8);
    // A module ends without taking what is around it along.
    check(&[nested(&of(5)), nested(&component(&[module(), outer(1, 0), instance(0)])), instance(1)], 7);
}

#[test]
fn an_instance_of_what_is_not_known_is_too_many() {
    let inner = |count, index| component(&[nested(&of(1)), outer(count, index), instance(1)]);
    let unknown = [
        // No component has this index, not yet, or not at all.
        vec![instance(0), nested(&of(1))],
        vec![nested(&of(1)), instance(1)],
        vec![nested(&of(1)), instance(0x7f)],
        vec![exported(0), instance(0)],
        vec![outer(0, 0), instance(0)],
        // It is given.
        vec![imported(), instance(0)],
        vec![imported(), exported(0), instance(1)],
        vec![imported(), outer(0, 0), instance(1)],
        vec![exported_by_an_instance(), instance(0)],
        // Of one around it: without this index, not yet, given; and of one that is not there.
        vec![nested(&of(1)), nested(&inner(1, 1)), instance(1)],
        vec![nested(&inner(1, 0)), nested(&of(1)), instance(0)],
        vec![imported(), nested(&inner(1, 0)), instance(1)],
        vec![nested(&of(1)), nested(&inner(2, 0)), instance(1)],
        vec![nested(&of(1)), nested(&inner(0x7f, 0)), instance(1)],
        vec![outer(1, 0), instance(0)],
    ];
    for sections in unknown {
        check(&sections, UNKNOWN);
        check(&[sections, vec![core(3), instance(0)]].concat(), UNKNOWN);
    }
    // Nobody makes one.
    check(&[imported(), nested(&inner(2, 0)), outer(1, 7)], 0);
}

#[test]
fn the_limits_are_the_last_that_is_taken() {
    let limit = usize::try_from(INSTANCES).unwrap();
    let too_much = |what, limit| Err(LoadError::TooMuch { what, limit });
    for bytes in [of(limit), component(&[nested(&of(limit - 1)), instance(0)])] {
        assert_eq!(super::check(&bytes), Ok(()));
    }
    for bytes in [of(limit + 1), component(&[nested(&of(limit)), instance(0)]), component(&[imported(), instance(0)])] {
        assert_eq!(super::check(&bytes), too_much("instances of modules and components", INSTANCES));
    }
    let parts = |count: usize| component(&[module().repeat(count - 2), nested(&component(&[module()]))]);
    assert_eq!(super::check(&parts(PARTS)), Ok(()));
    assert_eq!(super::check(&parts(PARTS + 1)), too_much("modules and components", PARTS as u64));
}

#[test]
fn a_file_that_is_cut_off_is_none_or_a_smaller_one() {
    let whole = component(&[nested(&component(&[nested(&of(5)), instance(0)])), instance(0)]);
    assert_eq!(instances(&whole), Ok(7));
    // Where a section ends, so may a file.
    let first = whole.len() - instance(0).len();
    assert_eq!((instances(&whole[..first]), instances(&whole[..8])), (Ok(0), Ok(0)));
    for end in [0, 7, 9, first - 1, first + 1, whole.len() - 1] {
        let cut = instances(&whole[..end]);
        assert!(matches!(cut, Err(LoadError::NotAComponent(_))), "{end} of {}: {cut:?}", whole.len());
    }
}
