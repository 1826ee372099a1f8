-- The chat's history: Chainlit's tables as it writes them, and one of ours.
CREATE TABLE IF NOT EXISTS users(
  id TEXT PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, metadata TEXT NOT NULL, "createdAt" TEXT);
CREATE TABLE IF NOT EXISTS threads(
  id TEXT PRIMARY KEY, "createdAt" TEXT, name TEXT, "userId" TEXT, "userIdentifier" TEXT, tags TEXT, metadata TEXT);
CREATE TABLE IF NOT EXISTS steps(
  id TEXT PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, "threadId" TEXT NOT NULL, "parentId" TEXT,
  streaming INT, "waitForAnswer" INT, "isError" INT, metadata TEXT, tags TEXT, input TEXT, output TEXT,
  "createdAt" TEXT, command TEXT, modes TEXT, start TEXT, "end" TEXT, generation TEXT, "showInput" TEXT, language TEXT,
  icon TEXT, indent INT, "defaultOpen" INT, "autoCollapse" INT);
CREATE TABLE IF NOT EXISTS elements(
  id TEXT PRIMARY KEY, "threadId" TEXT, type TEXT, url TEXT, "chainlitKey" TEXT, name TEXT NOT NULL, display TEXT,
  "objectKey" TEXT, size TEXT, page INT, language TEXT, "forId" TEXT, mime TEXT, props TEXT, "autoPlay" INT,
  "playerConfig" TEXT, path TEXT);
CREATE TABLE IF NOT EXISTS feedbacks(
  id TEXT PRIMARY KEY, "forId" TEXT NOT NULL, "threadId" TEXT, value INT NOT NULL, comment TEXT);
CREATE TABLE IF NOT EXISTS dossier_kept(kind TEXT, key TEXT, value TEXT NOT NULL, PRIMARY KEY(kind, key));
CREATE INDEX IF NOT EXISTS ix_steps_thread ON steps("threadId","createdAt");
CREATE INDEX IF NOT EXISTS ix_el_thread ON elements("threadId");
CREATE INDEX IF NOT EXISTS ix_threads_user ON threads("userId");
CREATE INDEX IF NOT EXISTS ix_fb_for ON feedbacks("forId");
-- A browser names the ids of what it sends: none of them takes a row out of the chat, or a chat from the user, that has it.
CREATE TRIGGER IF NOT EXISTS steps_stay BEFORE UPDATE ON steps WHEN OLD."threadId" != NEW."threadId"
  BEGIN SELECT RAISE(ABORT, 'a message stays in its chat'); END;
CREATE TRIGGER IF NOT EXISTS elements_stay BEFORE UPDATE ON elements WHEN OLD."threadId" != NEW."threadId"
  BEGIN SELECT RAISE(ABORT, 'an element stays in its chat'); END;
CREATE TRIGGER IF NOT EXISTS threads_stay BEFORE UPDATE ON threads WHEN OLD."userIdentifier" != NEW."userIdentifier"
  BEGIN SELECT RAISE(ABORT, 'a chat stays with its user'); END;
