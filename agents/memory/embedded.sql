-- What is known to one user, in a file of its own: words in FTS5, directions as bytes.
create table item(n integer primary key autoincrement, id text unique not null, kind text not null, verdict text not null,
    url text not null, domain text not null, text_hash text not null, seen text not null, body blob not null);
create index item_url on item(url); create index item_domain on item(domain);
create index item_text on item(text_hash); create index item_kind on item(kind, seen); create index item_seen on item(seen);
create table met(job text not null, n integer not null, primary key(job, n)) without rowid;
create index met_n on met(n);
create table embedder(id integer primary key, name text not null, dimensions integer not null, unique(name, dimensions));
create table meaning(m integer primary key autoincrement, embedder integer not null, n integer not null, kind text not null,
    code blob not null, vector blob not null, unique(n, embedder));
create virtual table words using fts5(body, aside, tokenize='unicode61 remove_diacritics 2');
create virtual table vocabulary using fts5vocab(words, row);
create table info(owner text not null);
