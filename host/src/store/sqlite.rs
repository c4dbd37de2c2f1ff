//! The store as a SQLite file.
//!
//! One file and a rollback journal, no write-ahead log: writes are few and small, a copy of one file is a whole backup,
//! and it works where memory cannot be shared (network disks). The lock is held for as long as the file is open, so that
//! a second broker finds out. A transaction that was reported as done is on the disk (`synchronous = EXTRA`).

use std::collections::BTreeMap;
use std::fs::{self, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use kourier_core::id::{Kind, ObjectId, ObjectKey};
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, Transaction, TransactionBehavior, params};
use serde_json::Value;

use crate::store::{Content, GoodRow, Identity, StoreError};

/// The newest schema that this program knows.
pub(super) const SCHEMA: i64 = 1;
/// Marks the file as ours: "AKrs" in ASCII.
const APPLICATION: i64 = 0x414b_7273;
/// How long a former broker may take to let go of the file.
const LOCK_WAIT: Duration = Duration::from_secs(2);

const TABLES: &str = "
    CREATE TABLE identity (
        kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
        uid TEXT NOT NULL, generation INTEGER NOT NULL, created INTEGER NOT NULL,
        file TEXT NOT NULL, document TEXT NOT NULL,
        PRIMARY KEY (kind, namespace, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE last_good (
        kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
        uid TEXT NOT NULL, generation INTEGER NOT NULL, spec TEXT NOT NULL,
        PRIMARY KEY (kind, namespace, name)
    ) STRICT, WITHOUT ROWID;
";

/// Why the file could not be opened.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The start stops.
    Stop(StoreError),
    /// It may pass: the broker serves on and tries again.
    Wait(String),
}

impl Trouble {
    pub(super) fn into_cause(self) -> String {
        match self {
            Self::Stop(error) => error.to_string(),
            Self::Wait(cause) => cause,
        }
    }
}

/// An open store.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) connection: Connection,
    /// The device and the inode that were at its path.
    inode: (u64, u64),
}

impl Opened {
    /// Whether its file is still the one at this path: what is written to a file that was removed or replaced is lost.
    pub(super) fn is_at(&self, file: &Path) -> bool {
        fs::metadata(file).is_ok_and(|metadata| inode(&metadata) == self.inode)
    }
}

fn inode(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Opens the file for this process alone, makes it if need be, and reads all of it.
pub(super) fn open(file: &Path) -> Result<(Opened, Content), Trouble> {
    // Before SQLite opens it: one that is swapped in between is then found to be another one.
    let inode = make_private(file).map_err(|error| Trouble::Wait(error.to_string()))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let attempt = || -> Result<_, Failed> {
        let mut connection = Connection::open_with_flags(file, flags)?;
        connection.busy_timeout(LOCK_WAIT)?;
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
        prepare(&transaction)?;
        let content = load(&transaction)?;
        transaction.commit()?;
        connection.pragma_update(None, "journal_mode", "DELETE")?;
        connection.pragma_update(None, "synchronous", "EXTRA")?;
        Ok((Opened { connection, inode }, content))
    };
    attempt().map_err(|failed| failed.of(file))
}

/// Reads a file that cannot be written; nothing when there is none.
pub(super) fn read_only(file: &Path) -> Result<Content, StoreError> {
    if fs::metadata(file).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(StoreError::Damaged { file: file.to_owned(), cause: "it is not a file".to_owned() });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let attempt = || -> Result<Content, Failed> {
        let mut connection = Connection::open_with_flags(file, flags)?;
        let transaction = connection.transaction()?;
        check(&transaction)?;
        if version(&transaction)? == 0 { Ok(Content::default()) } else { load(&transaction) }
    };
    attempt().or_else(|failed| match failed.of(file) {
        Trouble::Stop(error) => Err(error),
        Trouble::Wait(_) => Ok(Content::default()),
    })
}

/// Makes the tables and rows of `wanted` out of those of `stored`, all or nothing.
pub(super) fn write(connection: &mut Connection, stored: &Content, wanted: &Content) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    let gone = |id: &&ObjectId| !wanted.identities.contains_key(*id);
    for (kind, key) in stored.identities.keys().filter(gone) {
        let sql = "DELETE FROM identity WHERE kind = ?1 AND namespace = ?2 AND name = ?3";
        transaction.execute(sql, params![kind.as_str(), key.namespace, key.name])?;
    }
    for (id, identity) in changed(&stored.identities, &wanted.identities) {
        put_identity(&transaction, id, identity)?;
    }
    for (kind, key) in stored.good.keys().filter(|id| !wanted.good.contains_key(*id)) {
        let sql = "DELETE FROM last_good WHERE kind = ?1 AND namespace = ?2 AND name = ?3";
        transaction.execute(sql, params![kind.as_str(), key.namespace, key.name])?;
    }
    for (id, good) in changed(&stored.good, &wanted.good) {
        put_good(&transaction, id, good)?;
    }
    transaction.commit()
}

fn changed<'w, R: PartialEq>(
    stored: &BTreeMap<ObjectId, R>,
    wanted: &'w BTreeMap<ObjectId, R>,
) -> impl Iterator<Item = (&'w ObjectId, &'w R)> {
    wanted.iter().filter(|(id, row)| stored.get(*id) != Some(*row))
}

fn put_identity(transaction: &Transaction<'_>, (kind, key): &ObjectId, row: &Identity) -> rusqlite::Result<usize> {
    let sql = "INSERT OR REPLACE INTO identity VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let document = row.document.to_string();
    let values =
        params![kind.as_str(), key.namespace, key.name, row.uid, row.generation, row.created, row.file, document];
    transaction.execute(sql, values)
}

fn put_good(transaction: &Transaction<'_>, (kind, key): &ObjectId, row: &GoodRow) -> rusqlite::Result<usize> {
    let sql = "INSERT OR REPLACE INTO last_good VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let values = params![kind.as_str(), key.namespace, key.name, row.uid, row.generation, row.spec.to_string()];
    transaction.execute(sql, values)
}

/// Makes the file if it is not there, for its owner alone, and its folder. SQLite gives the journal the same rights.
/// Yields its device and inode.
fn make_private(file: &Path) -> io::Result<(u64, u64)> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(file)?;
    let metadata = opened.metadata()?;
    if metadata.permissions().mode() & 0o077 != 0 {
        opened.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(inode(&metadata))
}

// === Reading ===

/// Why something was not done, before it is known of which file.
enum Failed {
    Sqlite(rusqlite::Error),
    Damaged(String),
    Newer(i64),
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Failed {
    fn of(self, file: &Path) -> Trouble {
        let file = file.to_owned();
        match self {
            Self::Damaged(cause) => Trouble::Stop(StoreError::Damaged { file, cause }),
            Self::Newer(found) => Trouble::Stop(StoreError::Newer { file, found, known: SCHEMA }),
            Self::Sqlite(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Trouble::Stop(StoreError::Locked { file }),
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                    Trouble::Stop(StoreError::Damaged { file, cause: error.to_string() })
                }
                _ => Trouble::Wait(error.to_string()),
            },
        }
    }
}

/// Checks a file, and makes the tables of one that is new.
fn prepare(transaction: &Transaction<'_>) -> Result<(), Failed> {
    check(transaction)?;
    if version(transaction)? == 0 {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", SCHEMA)?;
    }
    Ok(())
}

fn check(transaction: &Transaction<'_>) -> Result<(), Failed> {
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let application: i64 = transaction.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if tables > 0 && application != APPLICATION {
        return Err(Failed::Damaged("it is the database of another program".to_owned()));
    }
    let version = version(transaction)?;
    if version > SCHEMA {
        return Err(Failed::Newer(version));
    }
    let found: String = transaction.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found == "ok" { Ok(()) } else { Err(Failed::Damaged(found)) }
}

fn version(transaction: &Transaction<'_>) -> Result<i64, Failed> {
    Ok(transaction.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn load(transaction: &Transaction<'_>) -> Result<Content, Failed> {
    let mut content = Content::default();
    let sql = "SELECT kind, namespace, name, uid, generation, document, created, file FROM identity";
    let mut statement = transaction.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (uid, generation, created, file) = (row.get(3)?, row.get(4)?, row.get(6)?, row.get(7)?);
        let identity = Identity { uid, generation, created, file, document: json(row)? };
        content.identities.insert(id(row)?, identity);
    }
    let mut statement = transaction.prepare("SELECT kind, namespace, name, uid, generation, spec FROM last_good")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        content.good.insert(id(row)?, GoodRow { uid: row.get(3)?, generation: row.get(4)?, spec: json(row)? });
    }
    Ok(content)
}

fn id(row: &Row<'_>) -> Result<ObjectId, Failed> {
    let name: String = row.get(0)?;
    let kind = Kind::ALL.into_iter().find(|kind| kind.as_str() == name);
    let kind = kind.ok_or_else(|| Failed::Damaged(format!("it holds a {name:?}")))?;
    Ok((kind, ObjectKey::new(row.get::<_, String>(1)?, row.get::<_, String>(2)?)))
}

/// The sixth column of a row.
fn json(row: &Row<'_>) -> Result<Value, Failed> {
    let text: String = row.get(5)?;
    serde_json::from_str(&text).map_err(|_| Failed::Damaged("it holds what is not JSON".to_owned()))
}
