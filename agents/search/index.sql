-- Documents, the files that are none, and passages: words in FTS5, directions as bytes.
create table document(
    id integer primary key, url text unique not null, stamp text not null, title text not null, author text,
    published text, language text, source text not null, text text not null, words_hash text not null,
    phrases text not null);
create index document_words on document(words_hash);
create table skipped(url text primary key, stamp text not null, reason text not null);
create table passage(id integer primary key, document integer not null, start integer not null, stop integer not null,
    direction blob not null);
create index passage_document on passage(document);
create virtual table passage_words using fts5(title, body, tokenize='unicode61 remove_diacritics 2');
