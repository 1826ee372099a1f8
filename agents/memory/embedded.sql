create virtual table if not exists memory_words using fts5(body, aside, tokenize='unicode61 remove_diacritics 2')

create virtual table if not exists memory_vocabulary using fts5vocab(memory_words, row)

create trigger if not exists memory_forgotten after delete on memory_items begin
    delete from memory_words where rowid = old.n;
    delete from memory_met where n = old.n;
    delete from memory_meanings where n = old.n;
end
