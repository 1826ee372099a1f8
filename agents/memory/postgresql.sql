-- What is known, beside the tables of the jobs, for all users: told apart by `owner`.
create table if not exists memory_items (n bigint generated always as identity primary key, owner text not null,
    id text not null, kind text not null, verdict text not null, url text not null, domain text not null,
    text_hash text not null, seen text not null, jobs text[] not null, body bytea not null, words tsvector not null,
    unique (owner, id));
create index if not exists memory_items_words on memory_items using gin (words);
create index if not exists memory_items_url on memory_items (owner, url);
create index if not exists memory_items_seen on memory_items (owner, seen);
create table if not exists memory_meanings (n bigint not null references memory_items on delete cascade,
    embedder text not null, owner text not null, code varbit not null, vector bytea not null, primary key (embedder, n));
create index if not exists memory_meanings_owner on memory_meanings (owner, embedder)
