//! Component files, byte by byte: as no compiler writes them.

/// How a component begins, and how a core module does.
pub(super) const COMPONENT: [u8; 8] = *b"\0asm\x0d\0\x01\0";
pub(super) const MODULE: [u8; 8] = *b"\0asm\x01\0\0\0";

/// Sections of a component, by their number.
const CORE_MODULE: u8 = 1;
const CORE_INSTANCE: u8 = 2;
const NESTED: u8 = 4;
const INSTANCE: u8 = 5;
const ALIAS: u8 = 6;
const IMPORT: u8 = 10;

/// A number as WebAssembly writes it (LEB128).
pub(super) fn number(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(u8::try_from(value & 0x7f).unwrap_or_default() | 0x80);
        value >>= 7;
    }
    bytes.push(u8::try_from(value).unwrap_or_default());
    bytes
}

/// A section of this number, of a component or of a core module.
pub(super) fn section(id: u8, content: &[u8]) -> Vec<u8> {
    [&[id][..], &number(content.len()), content].concat()
}

/// A list, each item of which is written already.
fn list(items: &[Vec<u8>]) -> Vec<u8> {
    [number(items.len()), items.concat()].concat()
}

/// A core module of these sections.
pub(super) fn module(sections: &[Vec<u8>]) -> Vec<u8> {
    [&MODULE[..], &sections.concat()].concat()
}

/// A core module with a function of this body, which is run when an instance is made.
pub(super) fn starting(body: &[u8]) -> Vec<u8> {
    let code = [&[0], body, &[0x0b]].concat();
    module(&[
        section(1, &list(&[vec![0x60, 0, 0]])),
        section(3, &list(&[number(0)])),
        section(8, &number(0)),
        section(10, &list(&[[number(code.len()), code].concat()])),
    ])
}

/// A core module with so many memories of so many pages each.
pub(super) fn memories(count: usize, pages: usize) -> Vec<u8> {
    module(&[section(5, &list(&vec![[vec![0], number(pages)].concat(); count]))])
}

/// A core module with so many tables of so many elements each.
pub(super) fn tables(count: usize, elements: usize) -> Vec<u8> {
    module(&[section(4, &list(&vec![[vec![0x70, 0], number(elements)].concat(); count]))])
}

/// A component with a core module more, of which so many instances are made.
pub(super) fn with_module(component: &[u8], module: &[u8], instances: usize) -> Vec<u8> {
    let index = number(count(component, CORE_MODULE));
    let made = list(&vec![[&[0], &index[..], &[0]].concat(); instances]);
    [component, &section(CORE_MODULE, module), &section(CORE_INSTANCE, &made)].concat()
}

/// A component with a component in it.
pub(super) fn with_nested(component: &[u8], nested: &[u8]) -> Vec<u8> {
    [component, &section(NESTED, nested)].concat()
}

/// Components in components, so deep.
pub(super) fn nest(depth: usize) -> Vec<u8> {
    // From the innermost outwards: what stands before it, in reverse.
    let (mut before, mut length): (Vec<Vec<u8>>, usize) = (Vec::new(), COMPONENT.len());
    for _ in 0..depth {
        let head = [&COMPONENT[..], &[NESTED], &number(length)].concat();
        length += head.len();
        before.push(head);
    }
    before.reverse();
    [before.concat(), COMPONENT.to_vec()].concat()
}

/// A component with a component that makes `width` instances of another one, which makes as many of a third, and so on,
/// `levels` times. Each of the innermost makes an instance of a core module.
pub(super) fn with_instances_of_instances(component: &[u8], width: usize, levels: usize) -> Vec<u8> {
    let first = count(component, NESTED);
    let mut bytes = with_nested(component, &with_module(&COMPONENT, &MODULE, 1));
    for level in 1..=levels {
        let alias = list(&[[&[4, 2, 1][..], &number(first + level - 1)].concat()]);
        let instances = list(&vec![vec![0, 0, 0]; width]);
        let nested = [&COMPONENT[..], &section(ALIAS, &alias), &section(INSTANCE, &instances)].concat();
        bytes = with_nested(&bytes, &nested);
    }
    let last = list(&[[&[0][..], &number(first + levels), &[0]].concat()]);
    [bytes, section(INSTANCE, &last)].concat()
}

/// A component with a component that makes an instance of one that it imports.
pub(super) fn with_instance_of_given(component: &[u8]) -> Vec<u8> {
    // The type of a component without anything in it.
    let kind = section(7, &list(&[vec![0x41, 0]]));
    let import = section(IMPORT, &list(&[[&[0][..], &number(5), b"given", &[4, 0]].concat()]));
    let instance = section(INSTANCE, &list(&[vec![0, 0, 0]]));
    let inner = with_nested(component, &[&COMPONENT[..], &kind, &import, &instance].concat());
    let (given, taker) = (count(component, NESTED) + 1, count(component, NESTED));
    let argument = [&number(5)[..], b"given", &[4], &number(given)].concat();
    let made = list(&[[&[0][..], &number(taker), &list(&[argument])].concat()]);
    [with_nested(&inner, &COMPONENT), section(INSTANCE, &made)].concat()
}

/// A component that imports an instance of nothing under each of these names.
pub(super) fn importing(names: &[String]) -> Vec<u8> {
    // The type of an instance without anything in it.
    let kind = section(7, &list(&[vec![0x42, 0]]));
    let import = |name: &String| [&[0][..], &number(name.len()), name.as_bytes(), &[5, 0]].concat();
    let imports: Vec<Vec<u8>> = names.iter().map(import).collect();
    [&COMPONENT[..], &kind, &section(IMPORT, &list(&imports))].concat()
}

/// Where the sections of a component begin, and which they are.
pub(super) fn sections(component: &[u8]) -> Vec<(usize, u8)> {
    let (mut found, mut at) = (Vec::new(), COMPONENT.len());
    while let Some(id) = component.get(at) {
        found.push((at, *id));
        let (mut size, mut shift) = (0, 0);
        for byte in &component[at + 1..] {
            at += 1;
            size |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        at += 1 + size;
    }
    found
}

/// How many sections of this number a component has, which for modules and components is how many of them.
fn count(component: &[u8], id: u8) -> usize {
    sections(component).iter().filter(|(_, found)| *found == id).count()
}
