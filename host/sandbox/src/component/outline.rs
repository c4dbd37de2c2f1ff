//! What a component consists of, counted before anything is compiled.
//!
//! The engine makes one list of all that an instance needs, and follows each instance of a component in a component. So a
//! file of some kilobytes, each of whose components makes a hundred instances of the one before it, would take more
//! memory than there is, and so would one with a million components in each other.

use wasmparser::{
    BinaryReaderError, ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind,
    ComponentTypeRef, Parser, Payload,
};

use super::LoadError;
use super::inspect::no_component;

/// Modules and components in a component, at any depth. One made from JavaScript or Python has some dozens.
const PARTS: usize = 1000;
/// Instances of modules and components that an instance is made of. A run may have 100 of modules.
const INSTANCES: u64 = 1000;

/// Refuses what has too many parts, or makes too many instances.
pub(super) fn check(bytes: &[u8]) -> Result<(), LoadError> {
    if instances(bytes)? > INSTANCES {
        return Err(LoadError::TooMuch { what: "instances of modules and components", limit: INSTANCES });
    }
    Ok(())
}

/// The instances that one of a component is made of, if it has not too many parts.
fn instances(bytes: &[u8]) -> Result<u64, LoadError> {
    let (mut parts, mut outline) = (0, Outline::default());
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(|error| no_component(&error))?;
        parts += usize::from(matches!(payload, Payload::ModuleSection { .. } | Payload::ComponentSection { .. }));
        if parts > PARTS {
            return Err(LoadError::TooMuch { what: "modules and components", limit: PARTS as u64 });
        }
        outline.read(payload).map_err(|error| no_component(&error))?;
    }
    Ok(outline.here.instances)
}

/// A component that is being read, and those around it.
#[derive(Default)]
struct Outline {
    here: Part,
    /// Those around it, the outermost first. A module stands here like a component, because it ends like one.
    around: Vec<Part>,
}

/// A module or component, as far as it was read.
#[derive(Default)]
struct Part {
    is_module: bool,
    /// Instances that one of it is made of, itself not counted.
    instances: u64,
    /// The same of each component that it can name; none for one that it is given.
    components: Vec<Option<u64>>,
}

impl Outline {
    fn read(&mut self, payload: Payload<'_>) -> Result<(), BinaryReaderError> {
        match payload {
            Payload::ModuleSection { .. } => self.begin(true),
            Payload::ComponentSection { .. } => self.begin(false),
            Payload::End(_) => self.end(),
            Payload::InstanceSection(section) => self.here.add(u64::from(section.count())),
            Payload::ComponentInstanceSection(section) => {
                for instance in section {
                    self.here.instantiate(&instance?);
                }
            }
            Payload::ComponentAliasSection(section) => {
                for alias in section {
                    self.alias(&alias?);
                }
            }
            Payload::ComponentImportSection(section) => {
                for import in section {
                    let is_component = matches!(import?.ty, ComponentTypeRef::Component(_));
                    self.here.components.extend(is_component.then_some(None));
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section {
                    let export = export?;
                    // What is exported can be named once more.
                    let is_component = export.kind == ComponentExternalKind::Component;
                    let component = is_component.then(|| self.here.component(export.index));
                    self.here.components.extend(component);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, is_module: bool) {
        let inner = Part { is_module, ..Part::default() };
        self.around.push(std::mem::replace(&mut self.here, inner));
    }

    fn end(&mut self) {
        // The outermost one ends too.
        let Some(outer) = self.around.pop() else { return };
        let ended = std::mem::replace(&mut self.here, outer);
        self.here.components.extend((!ended.is_module).then_some(Some(ended.instances)));
    }

    fn alias(&mut self, alias: &ComponentAlias<'_>) {
        let component = match alias {
            ComponentAlias::InstanceExport { kind: ComponentExternalKind::Component, .. } => None,
            ComponentAlias::Outer { kind: ComponentOuterAliasKind::Component, count: 0, index } => {
                self.here.component(*index)
            }
            ComponentAlias::Outer { kind: ComponentOuterAliasKind::Component, count, index } => {
                let outer = self.around.iter().nth_back(*count as usize - 1);
                outer.and_then(|outer| outer.component(*index))
            }
            _ => return,
        };
        self.here.components.push(component);
    }
}

impl Part {
    /// The instances that one of this component is made of, if that can be told.
    fn component(&self, index: u32) -> Option<u64> {
        self.components.get(index as usize).copied().flatten()
    }

    fn instantiate(&mut self, instance: &ComponentInstance<'_>) {
        self.add(match instance {
            ComponentInstance::Instantiate { component_index, .. } => {
                self.component(*component_index).unwrap_or(u64::MAX).saturating_add(1)
            }
            ComponentInstance::FromExports(_) => 1,
        });
    }

    fn add(&mut self, instances: u64) {
        self.instances = self.instances.saturating_add(instances);
    }
}

#[cfg(test)]
mod tests;
