create table if not exists memory_words (
    n bigint primary key references memory_items on delete cascade, words tsvector not null)

create index if not exists memory_words_words on memory_words using gin (words)
