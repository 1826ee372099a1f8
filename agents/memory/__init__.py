"""What texts are about, as vectors: a table of word pieces that ships with the program. Nothing here searches or stores."""
