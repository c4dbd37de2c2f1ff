use std::os::unix::fs::symlink;

use super::*;

const CERTIFICATE: &str = include_str!("tests/ca.pem");

struct World {
    root: tempfile::TempDir,
    secrets: Secrets,
}

fn world() -> World {
    let root = tempfile::tempdir().unwrap();
    let secrets = Secrets::new(root.path().join("secrets"));
    fs::create_dir_all(root.path().join("secrets/team-a/bot")).unwrap();
    World { root, secrets }
}

impl World {
    fn dir(&self) -> PathBuf {
        self.root.path().join("secrets/team-a/bot")
    }

    fn write(&self, key: &str, content: impl AsRef<[u8]>) {
        fs::write(self.dir().join(key), content).unwrap();
    }

    fn credential(&self, key: &str) -> Result<String, SecretFault> {
        let found = self.secrets.credential("team-a", &reference("bot", key));
        found.map(|(secret, _)| secret.expose().to_owned()).map_err(|error| error.fault)
    }
}

fn reference(name: &str, key: &str) -> SecretRef {
    SecretRef { name: name.to_owned(), key: key.to_owned() }
}

#[test]
fn a_value_loses_one_line_end_and_is_otherwise_taken_or_refused_as_it_is() {
    let world = world();
    for (content, expected) in [
        ("token", Ok("token")),
        ("token\n", Ok("token")),
        ("token\r\n", Ok("token")),
        ("two words: ü", Ok("two words: ü")),
        ("token\n\n", Err(SecretFault::EdgeSpace)),
        ("token\r", Err(SecretFault::EdgeSpace)),
        (" token", Err(SecretFault::EdgeSpace)),
        ("token\u{a0}", Err(SecretFault::EdgeSpace)),
        ("", Err(SecretFault::Empty)),
        ("\n", Err(SecretFault::Empty)),
        ("\r\n", Err(SecretFault::Empty)),
        ("to\nken", Err(SecretFault::ControlCharacter)),
        ("to\0ken", Err(SecretFault::ControlCharacter)),
        ("to\u{85}ken", Err(SecretFault::ControlCharacter)),
    ] {
        world.write("token", content);
        assert_eq!(world.credential("token"), expected.map(str::to_owned), "{content:?}");
    }
    world.write("token", b"to\xffken");
    assert_eq!(world.credential("token"), Err(SecretFault::NotText));
    world.write("token", "x".repeat(65_537));
    assert_eq!(world.credential("token"), Err(SecretFault::TooLong(65_536)));
    world.write("token", "x".repeat(1 << 21));
    assert_eq!(world.credential("token"), Err(SecretFault::TooLong(1 << 20)));
}

#[test]
fn no_name_leads_out_of_the_folder_of_the_secret() {
    let world = world();
    fs::write(world.root.path().join("outside"), "stolen").unwrap();
    fs::create_dir_all(world.root.path().join("secrets/team-b/bot")).unwrap();
    fs::write(world.root.path().join("secrets/team-b/bot/token"), "stolen").unwrap();
    for (namespace, name, key) in [
        ("team-a", "bot", "../../team-b/bot/token"),
        ("team-a", "bot", ".."),
        ("team-a", "bot", "..data"),
        ("team-a", "bot", "."),
        ("team-a", "bot", ""),
        ("team-a", "..", "token"),
        ("team-a", "../team-b/bot", "token"),
        ("..", "secrets", "token"),
        ("", "team-b", "bot"),
        ("team-a", "/etc", "passwd"),
    ] {
        let error = world.secrets.credential(namespace, &reference(name, key)).unwrap_err();
        assert_eq!(error.fault, SecretFault::BadName, "{namespace} {name} {key}");
    }
    symlink("../../team-b/bot/token", world.dir().join("neighbour")).unwrap();
    symlink(world.root.path().join("outside"), world.dir().join("outside")).unwrap();
    symlink(world.root.path(), world.root.path().join("secrets/team-a/root")).unwrap();
    assert_eq!(world.credential("neighbour"), Err(SecretFault::Outside));
    assert_eq!(world.credential("outside"), Err(SecretFault::Outside));
    let error = world.secrets.credential("team-a", &reference("root", "outside")).unwrap_err();
    assert_eq!(error.fault, SecretFault::Outside);
}

#[test]
fn a_mounted_secret_is_followed_through_its_swap() {
    let world = world();
    for (folder, value) in [("..1", "first"), ("..2", "second")] {
        fs::create_dir(world.dir().join(folder)).unwrap();
        fs::write(world.dir().join(folder).join("token"), value).unwrap();
    }
    symlink("..1", world.dir().join("..data")).unwrap();
    symlink("..data/token", world.dir().join("token")).unwrap();
    assert_eq!(world.credential("token"), Ok("first".to_owned()));
    symlink("..2", world.dir().join("..new")).unwrap();
    fs::rename(world.dir().join("..new"), world.dir().join("..data")).unwrap();
    assert_eq!(world.credential("token"), Ok("second".to_owned()));
}

#[test]
fn what_is_not_there_or_not_a_file_is_said() {
    let world = world();
    let missing = |name: &str| world.secrets.credential("team-a", &reference(name, "token")).unwrap_err();
    assert_eq!(missing("bot").to_string(), "key token of Secret team-a/bot: the Secret has no such key");
    assert_eq!(missing("other").to_string(), "key token of Secret team-a/other: there is no such Secret");
    fs::create_dir(world.dir().join("folder")).unwrap();
    assert_eq!(world.credential("folder"), Err(SecretFault::NotAFile));
    symlink("loop", world.dir().join("loop")).unwrap();
    assert!(matches!(world.credential("loop"), Err(SecretFault::Unreadable(_))));
    let nowhere = Secrets::new(PathBuf::from("/nowhere"));
    assert_eq!(nowhere.credential("a", &reference("b", "c")).unwrap_err().fault, SecretFault::NoSecret);
}

#[test]
fn a_version_changes_with_the_content_alone_and_differs_between_processes() {
    let world = world();
    let version = || world.secrets.version("team-a", &reference("bot", "token"));
    let missing = version();
    world.write("token", "one");
    let one = version();
    assert_eq!(one, version());
    assert_eq!(one, world.secrets.credential("team-a", &reference("bot", "token")).unwrap().1);
    world.write("token", " unusable ");
    let unusable = version();
    world.write("token", "one");
    assert_eq!(one, version());
    assert!(missing != one && one != unusable && missing != unusable);
    let other = Secrets::new(world.root.path().join("secrets"));
    assert_ne!(one, other.version("team-a", &reference("bot", "token")));
}

#[test]
fn a_ca_without_a_usable_certificate_is_never_the_systems_roots() {
    let world = world();
    let certificates = || world.secrets.certificates("team-a", &reference("bot", "ca.crt"));
    let body: String = CERTIFICATE.lines().filter(|line| !line.starts_with('-')).collect();
    for (content, fault) in [
        (String::new(), SecretFault::NoCertificate),
        ("not PEM".to_owned(), SecretFault::NoCertificate),
        (CERTIFICATE.replace("CERTIFICATE", "PRIVATE KEY"), SecretFault::NoCertificate),
        (CERTIFICATE.replace(&body[..8], "AAAAAAAA"), SecretFault::BadCertificate),
        (CERTIFICATE.replace(&body[..8], "*"), SecretFault::BadCertificate),
        (format!("{CERTIFICATE}{}", CERTIFICATE.replace(&body[..8], "AAAAAAAA")), SecretFault::BadCertificate),
    ] {
        world.write("ca.crt", &content);
        assert_eq!(certificates().unwrap_err().fault, fault, "{content}");
    }
    let two = format!("# ours\n{CERTIFICATE}{CERTIFICATE}");
    world.write("ca.crt", &two);
    assert_eq!(certificates().unwrap().0, Trust::Only(Arc::from(two.as_str())));
}

#[test]
fn debug_shows_no_value() {
    let world = world();
    world.write("token", "hush");
    let found = world.secrets.credential("team-a", &reference("bot", "token"));
    assert!(!format!("{found:?} {:?}", world.secrets).contains("hush"));
}
