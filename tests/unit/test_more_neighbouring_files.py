"""More neighbours of the made files: other formats, scripts and makers of files, each small, each against the text that stands in it."""

import base64
import io
import zipfile

import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from pptx.util import Inches

from agents.core.errors import SourceError
from agents.web.reader import read_here
from tests.unit.test_made_files import DAM, NAMES, archive, drawn, odf_row, open_document, page, saved, typeset, word

# fmt: off
OF_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
def body_of(*inner):

    def build(d):
        for x in inner:
            d.element.body.insert(len(d.element.body) - 1, parse_xml(x.replace('<w:p>', f'<w:p {OF_WORD}>', 1).replace('<w:tbl>', f'<w:tbl {OF_WORD}>', 1)))
    return word(build)
HEAD = f'Orvelle\n\n{DAM}\n\n'
CASES = []
def html(n, body, text, css=''):
    CASES.append(('html: ' + n, 'a.html', page(body, css), HEAD + text if text[:7] != 'Orvelle' else text))
html('sup after a closing quote', '<p>He said “it is safe.”<sup>3</sup> Then he left.</p>', HEAD + 'He said “it is safe.”³ Then he left.')
html('note after full stop', '<p>It closed.<sup>3</sup> It cost 412.<sup>4,5</sup> Then.</p>', HEAD + 'It closed.³ It cost 412. [4,5] Then.')
html('year then note', '<p>It closed in 1994<sup>3</sup> and 1995<sup>a</sup>.</p>', HEAD + 'It closed in 1994³ and 1995[a].')
html('powers', '<p>10<sup>-6</sup> m, 10<sup>−6</sup> m, 10<sup>5.3</sup>, 5 s<sup>-1</sup>, 10<sup>6</sup>–10<sup>7</sup>, 643 km<sup>2</sup>, x<sub>0</sub><sup>2</sup>.</p>', HEAD + '10⁻⁶ m, 10⁻⁶ m, 10^5.3, 5 s⁻¹, 10⁶–10⁷, 643 km², x₀².')
html('ordinals and names', '<p>The 19<sup>th</sup> century, the 1<sup>st</sup> and 2<sup>nd</sup>, M<sup>me</sup> Berg, X<sup>TM</sup>, PM<sub>2.5</sub>, log<sub>10</sub> n.</p>', HEAD + 'The 19th century, the 1st and 2nd, Mme Berg, XTM, PM2.5, log₁₀ n.')
html('isotopes', '<p>It holds 5 g of <sup>235</sup>U and <sup>14</sup>C.</p>', HEAD + 'It holds 5 g of ²³⁵U and ¹⁴C.')
html('marks of other kinds', '<p>Deaths: 412<sup>*</sup>, 98<sup>†</sup>, 7<sup>[note 2]</sup>, 33<sup>[1][2]</sup>.</p>', HEAD + 'Deaths: 412*, 98†, 7[note 2], 33[1][2].')
html('mathml limits and matrix', '<p>It is <math><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mn>12</mn></munderover><msub><mi>x</mi><mi>i</mi></msub></math> and <math><mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo>)</mo></math> and <math><msqrt><mn>2</mn></msqrt><mroot><mn>8</mn><mn>3</mn></mroot></math>.</p>', HEAD + 'It is ∑_(i = 1)^12 x_i and (1, 2; 3, 4) and √2 ³√8.')
html('table rtl', '<table dir=rtl><tr><th>السنة<th>الوفيات<tr><td>1994<td>412<tr><td>1995<td>98</table>', HEAD + 'السنة: 1994; الوفيات: 412.\nالسنة: 1995; الوفيات: 98.')
html('rowspan 0 and scope', '<table><tr><th>Region<th>Year<th>Deaths<tr><th rowspan=0>North<td>1994<td>4<tr><td>1995<td>5</table>', HEAD + 'Region: North; Year: 1994; Deaths: 4.\nRegion: North; Year: 1995; Deaths: 5.')
html('two bodies, repeated heads', '<table><thead><tr><th>Year<th>Deaths</thead><tbody><tr><td>1994<td>4</tbody><tbody><tr><th colspan=2>South</tr><tr><td>1994<td>7</tbody></table>', HEAD + 'Year: 1994; Deaths: 4.\nSouth; Year: 1994; Deaths: 7.')
html('nested table', '<table><tr><th>Year<th>Parts<tr><td>1994<td><table><tr><td>men<td>4<tr><td>women<td>12</table></table>', HEAD + 'Year: 1994; Parts: men | 4, women | 12.')
html('layout table', '<table role=presentation><tr><td><p>The north gate is closed in winter for the ice.</p></td><td><p>The south gate is open all year for the boats.</p></td></tr></table>', HEAD + 'The north gate is closed in winter for the ice.\n\nThe south gate is open all year for the boats.')
html('br in cells', '<table><tr><th>Year<th>Deaths<br>(men)<tr><td>1994<td>4<br>12</table>', HEAD + 'Year: 1994; Deaths (men): 4, 12.')
html('hidden more', ''.join(f'<p style="{s}">HIDDEN</p>' for s in ('opacity:0', 'font-size:0', 'color:transparent', 'color:rgba(0,0,0,0)', 'text-indent:-9999px', 'transform:scale(0)', 'max-height:0;overflow:hidden', 'width:1px;height:1px;overflow:hidden;position:absolute', 'clip:rect(0,0,0,0);position:absolute', 'filter:opacity(0)', 'color:#fff', 'color:white;background:#fff', 'content-visibility:hidden', 'margin-left:-9999px', 'visibility:collapse', 'font-size:0.1px', 'color:hsl(0 0% 100%)', 'color:#FFFFFFFF', 'position:fixed;top:-100vh')) + "<p><font color=white>HIDDEN</font></p><p><font size=1 color='#ffffff'>HIDDEN</font></p><p>It has 3 gates.</p>", HEAD + 'It has 3 gates.')
html('hidden by css forms', "<p class=a>HIDDEN</p><p class=b><span>HIDDEN</span></p><p class='c d'>HIDDEN</p><p data-x=y>HIDDEN</p><div class=e><p>It has 3 gates.</p><p>HIDDEN</p></div>", HEAD + 'It has 3 gates.', '.a{display:none!important}.b > span{opacity:0}.c.d{visibility:hidden}[data-x=y]{display:none}.e p:nth-child(2){display:none}')
html('white on dark is seen', '<div style="background:#003"><p style="color:#fff">White on blue.</p></div><p style="background-color:navy;color:white">More on navy.</p>', HEAD + 'White on blue.\n\nMore on navy.')
html('rtl marks', '<p>الجسر \u200fآمن\u200e في 1994.</p>', HEAD + 'الجسر آمن في 1994.')
html('definition lists', '<dl><dt>Height</dt><dd>91 m</dd><dd>above the road 93 m</dd><dt>Built</dt><dt>Opened</dt><dd>1987</dd></dl>', HEAD + 'Height: 91 m\n\nabove the road 93 m\n\nBuilt\n\nOpened: 1987')
html('small caps and drop cap', '<p><span style="float:left;font-size:3em">T</span>he gate was built in 1990.</p><p><span class=dropcap>I</span>t has 3 doors.</p><p>T<small>HE DAM</small> is old.</p>', HEAD + 'The gate was built in 1990.\n\nIt has 3 doors.\n\nTHE DAM is old.')
html('strike by aria and old tags', '<p>It cost <span role="deletion">40</span> 49, <strike>DELETED</strike> <del datetime=x>DELETED</del> in all.</p>', HEAD + 'It cost 49, in all.')
html('table caption and notes', '<table><caption>Deaths<sup>1</sup></caption><tr><th>Year<th>Deaths<tr><td>1994<td>412<sup>2</sup></table><p><sup>1</sup> Without children.</p>', HEAD + 'Deaths¹\n\nYear: 1994; Deaths: 412².\n\n¹ Without children.')
def markdown(n, s, text):
    CASES.append(('md: ' + n, 'a.md', s.encode(), text))
markdown('sup in tables', f'{DAM}\n\n| Place | Deaths |\n|:--|--:|\n| Orvelle | 412<sup>12</sup> |\n| Kelwick | 10<sup>6</sup> |\n', DAM + '\n\nPlace: Orvelle; Deaths: 412¹².\nPlace: Kelwick; Deaths: 10⁶.')
markdown('footnotes', f'{DAM}[^a] It has 3 gates.[^2]\n\n[^a]: Without the road.\n[^2]: In 1994.\n', DAM + '[^a] It has 3 gates.[^2]\n\n[^a]: Without the road. [^2]: In 1994.')
markdown('sup by carets', f'{DAM} It holds 10^6^ litres of H~2~O.\n', DAM + ' It holds 10^6^ litres of H~2~O.')
markdown('front matter yaml lists', f'---\ntitle: The dam\ntags:\n  - a\n  - b\ndate: 1994-05-03\n---\n\n{DAM}\n', DAM)
markdown('table without outer bars', f'{DAM}\n\nYear | Deaths\n--- | ---\n1994 | 412\n1995 |\n', DAM + '\n\nYear: 1994; Deaths: 412.\nYear: 1995.')
markdown('html comment and hidden', f'{DAM}\n\n<!-- HIDDEN\nHIDDEN -->\n\n[//]: # (HIDDEN)\n\n<span hidden>HIDDEN</span> It has 3 gates.\n', DAM + '\n\nIt has 3 gates.')
markdown('escaped signs', f'{DAM} It cost \\$5 \\* 3, 5 \\< 6 &lt; 7 &amp; more, snake_case_name, 2 * 3 * 4 = 24.\n', DAM + ' It cost $5 * 3, 5 < 6 < 7 & more, snake_case_name, 2 * 3 * 4 = 24.')
markdown('def list & task list', f'{DAM}\n\n- [x] gate closed\n- [ ] gate open\n', DAM + '\n\n- [x] gate closed\n- [ ] gate open')
def pdf(n, b, text, gaps=()):
    CASES.append(('pdf: ' + n, 'a.pdf', b, text, gaps))
def shown(x):
    return b'BT /F1 12 Tf ' + x + b' ET'
pdf('raised by rise only', drawn(shown(b'72 700 Td (It holds 10) Tj 5 Ts (6) Tj 0 Ts ( litres of water.) Tj')), DAM + ' It holds 10⁶ litres of water.')
pdf('raised by place, same size', drawn(shown(b'72 700 Td (It holds 10) Tj 55.4 5 Td (6) Tj 6.7 -5 Td ( litres of water.) Tj')), DAM + ' It holds 10⁶ litres of water.')
pdf('lowered by place, same size', drawn(shown(b'72 700 Td (It holds H) Tj -3 Ts (2) Tj 0 Ts (O in the old basin.) Tj')), DAM + ' It holds H₂O in the old basin.')
pdf('note after stop', typeset(f'{DAM}#super[3] It cost 412 crowns.#super[4,5] Then it rose to 98#super[a] in 1994#super[6].'), DAM + '³ It cost 412 crowns. [4,5] Then it rose to 98[a] in 1994⁶.')
pdf('drop cap', drawn(b'BT /F1 36 Tf 72 676 Td (T) Tj ET', shown(b'96 700 Td (he north gate was built in 1990 by the old harbour) Tj'), shown(b'96 686 Td (office and it was closed in the winter of that year) Tj'), shown(b'72 666 Td (for good.) Tj')), DAM + '\n\nThe north gate was built in 1990 by the old harbour office and it was closed in the winter of that year for good.')
pdf('small caps made small', typeset('T#text(size: 8pt)[HE] D#text(size: 8pt)[AM] of Orvelle holds 412 litres in all the years of the town.'), 'THE DAM of Orvelle holds 412 litres in all the years of the town.')
pdf('two columns with footnotes', typeset(f'#set page(columns: 2, height: 9cm)\n{DAM}#footnote[Without the road.] It cost 412 crowns in all the years that it stood there and was paid by the town. #colbreak() The north gate is closed.#footnote[Since 1994.] It has 3 doors that are open all the year.'), DAM + '¹ It cost 412 crowns in all the years that it stood there and was paid by the town.\n\n¹Without the road. ²Since 1994.\n\nThe north gate is closed.² It has 3 doors that are open all the year.')
pdf('running heads in a sentence', typeset('#set page(height: 6cm, header: [Annual report of the board], footer: context [#counter(page).display()], numbering: "1")\n' + ' '.join(f'The dam number {i} of Orvelle was closed on {i} days in the winter of the year.' for i in range(1, 13))), 'Annual report of the board\nThe dam number 1 of Orvelle was closed on 1 days in the winter of the year. The dam number 2 of Orvelle was closed on 2 days in the winter of the year. The dam number 3 of Orvelle was closed on 3 days in the winter of the year. The dam number 4 of Orvelle was closed on 4 days in the winter of the year. The dam number 5 of Orvelle was closed on 5 days in the winter of the year. The dam number 6 of Orvelle was closed on 6 days in the winter of the year. The dam number 7 of Orvelle was closed on 7 days in the winter of the year. The dam number 8 of Orvelle was closed on 8 days in the winter of the year. The dam number 9 of Orvelle was closed on 9 days in the winter of the year. The dam number 10 of Orvelle was closed on 10 days in the winter of the year. The dam number 11 of Orvelle was closed on 11 days in the winter of the year. The dam number 12 of Orvelle was closed on 12 days in the winter of the year.')
def fields_of(fields):
    return {'catalog': b'/AcroForm << /Fields [%s] >>' % b' '.join(b'%d 0 R' % (6 + i) for i in range(len(fields))), 'more': tuple(fields)}
def form(fields, *streams):
    b = drawn(*streams, **fields_of(fields))
    refs = b' '.join((b'%d 0 R' % (6 + i) for i, one in enumerate(fields) if b'/Rect' in one))
    return b.replace(b'/Contents 4 0 R', b'/Contents 4 0 R /Annots [%s]' % refs)
pdf('choice field', form([b'<< /Type /Annot /Subtype /Widget /FT /Ch /Ff 131072 /T (gate) /TU (Gate) /Opt [(north) (south)] /V (south) /Rect [200 700 300 712] >>'], shown(b'72 702 Td (Gate that is closed:) Tj')), DAM + ' Gate that is closed: south')
pdf('choice with export values', form([b'<< /Type /Annot /Subtype /Widget /FT /Ch /Ff 131072 /T (gate) /Opt [[(n) (north gate)] [(s) (south gate)]] /V (s) /Rect [200 700 300 712] >>'], shown(b'72 702 Td (Gate that is closed:) Tj')), DAM + ' Gate that is closed: south gate')
pdf('radio buttons', form([b'<< /FT /Btn /Ff 49152 /T (g) /V /South /Kids [7 0 R 8 0 R] >>', b'<< /Type /Annot /Subtype /Widget /Parent 6 0 R /Rect [200 700 212 712] /AS /Off /AP << /N << /North 9 0 R >> >> >>', b'<< /Type /Annot /Subtype /Widget /Parent 6 0 R /Rect [200 680 212 692] /AS /South /AP << /N << /South 9 0 R >> >> >>', b'<< /Type /XObject /Subtype /Form /BBox [0 0 12 12] /Length 0 >>\nstream\n\nendstream'], shown(b'72 702 Td (The north gate) Tj'), shown(b'72 682 Td (The south gate) Tj')), DAM + '\n\nThe north gate\nThe south gate [x]')
pdf('multi-line field, parent value', form([b'<< /FT /Tx /Ff 4096 /T (f) /V (Crack in the gate,\\rclosed in May.) /Kids [7 0 R] >>', b'<< /Type /Annot /Subtype /Widget /Parent 6 0 R /Rect [200 660 400 712] >>'], shown(b'72 702 Td (Finding:) Tj')), DAM + ' Finding: Crack in the gate, closed in May.')
pdf('hidden field, password', form([b'<< /Type /Annot /Subtype /Widget /FT /Tx /T (f) /F 2 /V (HIDDEN) /Rect [200 700 300 712] >>', b'<< /Type /Annot /Subtype /Widget /FT /Tx /Ff 8192 /T (p) /V (HIDDEN) /Rect [200 680 300 692] >>'], shown(b'72 702 Td (Seen words:) Tj')), DAM + ' Seen words:')
def letters_of(pairs):
    s = b'/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def 1 begincodespacerange <00> <FF> endcodespacerange %d beginbfchar %s endbfchar endcmap end end' % (len(pairs), b' '.join((b'<%02X> <%04X>' % (a, b) for a, b in pairs)))
    return b'<< /Length %d >>\nstream\n%s\nendstream' % (len(s), s)
PRIVATE = [(c, 57344 + c) for c in range(32, 127)]
SHIFTED = [(c, 33 + c * 7 % 90) for c in range(33, 127)]
pdf('private letters in a part', drawn(b'BT /F2 12 Tf 72 700 Td (The north gate cost 412 crowns in all.) Tj ET', shown(b'72 640 Td (It has 3 gates.) Tj'), resources=b'', more=(b'<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /ToUnicode 7 0 R >>', letters_of(PRIVATE))).replace(b'/F1 5 0 R', b'/F1 5 0 R /F2 6 0 R'), DAM + ' It has 3 gates.', gaps=('some letters could not be read (1 / 1)',))
pdf('shifted letters in a part', drawn(*[b'BT /F2 12 Tf 72 %d Td (The north gate cost 412 crowns in all of the years.) Tj ET' % (700 - 20 * i) for i in range(3)], shown(b'72 560 Td (It has 3 gates.) Tj'), more=(b'<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /ToUnicode 7 0 R >>', letters_of(SHIFTED))).replace(b'/F1 5 0 R', b'/F1 5 0 R /F2 6 0 R'), DAM + ' It has 3 gates.', gaps=('some letters could not be read (1 / 1)',))
pdf('range over lines', drawn(shown(b'72 700 Td (The share of the north gate in all the years was 12\\226) Tj'), shown(b'72 686 Td (15 % of the whole cost of the dam in the town that) Tj'), shown(b'72 672 Td (year.) Tj')).replace(b'/BaseFont /Helvetica', b'/BaseFont /Helvetica /Encoding /WinAnsiEncoding'), DAM + '\n\nThe share of the north gate in all the years was 12–15 % of the whole cost of the dam in the town that year.')
pdf('transparent words', drawn(b'/G1 gs ' + shown(b'72 700 Td (ORDER) Tj'), shown(b'72 640 Td (It has 3 gates.) Tj'), resources=b'/ExtGState << /G1 << /ca 0 /CA 0 >> >>'), DAM)
pdf('tiny by matrix', drawn(b'BT /F1 12 Tf 0.05 0 0 0.05 72 700 Tm (ORDER) Tj ET BT /F1 1 Tf 12 0 0 12 72 640 Tm (It has 3 gates.) Tj ET'), DAM + ' It has 3 gates.')
pdf('rotated page', typeset(f'#set page(flipped: true)\n{DAM}\n\n#rotate(-90deg, reflow: true)[Side words of the north gate]'), DAM + ' Side words of the north gate')
pdf('page turned by its entry', drawn(b'').replace(b'/MediaBox', b'/Rotate 90 /MediaBox'), DAM)
pdf('arabic', typeset('#set text(lang: "ar", font: ("DejaVu Sans",))\nبني الجسر في عام 1987 بتكلفة 412 مليون كرونة.'), 'بني الجسر في عام 1987 بتكلفة 412 مليون كرونة.')
pdf('negative in parentheses', typeset(f'{DAM}\n\n#table(columns: 3, stroke: none, align: (left, right, right), [Item], [2019], [2020], [Road], [1,204], [(171)], [Wall], [(12)], [82])'), DAM + '\n\nItem: Road; 2019: 1,204; 2020: (171).\nItem: Wall; 2019: (12); 2020: 82.')
pdf('table over two pages', typeset('#set page(height: 5cm)\n#table(columns: 2, table.header([Year], [Deaths]), ' + ', '.join(f'[{1990 + i}], [{400 + i}]' for i in range(12)) + ')'), 'Year: 1990; Deaths: 400.\nYear: 1991; Deaths: 401.\nYear: 1992; Deaths: 402.\nYear: 1993; Deaths: 403.\nYear: 1994; Deaths: 404.\n\nYear: 1995; Deaths: 405.\nYear: 1996; Deaths: 406.\nYear: 1997; Deaths: 407.\nYear: 1998; Deaths: 408.\nYear: 1999; Deaths: 409.\n\nYear: 2000; Deaths: 410.\nYear: 2001; Deaths: 411.')
pdf('both index and power', typeset('The load is $x_0^2$ and $sum_(i=1)^12 y_i$ newton in all the years of the town of Orvelle.'), 'The load is 𝑥²₀ and ∑¹² 𝑖=1 𝑦𝑖 newton in all the years of the town of Orvelle.')
pdf('hyphenated compound', drawn(shown(b'72 700 Td (The north gate of the dam is a well-) Tj'), shown(b'72 686 Td (known sight and the har-) Tj'), shown(b'72 672 Td (bour is old.) Tj')), DAM + '\n\nThe north gate of the dam is a well-known sight and the harbour is old.')
pdf('form object', drawn(b'q /X1 Do Q', resources=b'/XObject << /X1 6 0 R >>', more=(b'<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Font << /F1 5 0 R >> >> /Length 62 >>\nstream\nBT /F1 12 Tf 72 700 Td (It has 3 gates in the north.) Tj ET  \nendstream',)), DAM + ' It has 3 gates in the north.')
def word_file(n, b, text, gaps=()):
    CASES.append(('docx: ' + n, 'a.docx', b, text, gaps))
RAISED = '<w:vertAlign w:val="superscript"/>'
IN_WHITE = '<w:color w:val="FFFFFF"/>'
def run(t, p=''):
    return f"""<w:r>{(f'<w:rPr>{p}</w:rPr>' if p else '')}<w:t xml:space="preserve">{t}</w:t></w:r>"""
word_file('nary with limits', body_of(f"""<w:p>{run('It is ')}<m:oMath><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub><m:r><m:t>i=1</m:t></m:r></m:sub><m:sup><m:r><m:t>12</m:t></m:r></m:sup><m:e><m:r><m:t>y</m:t></m:r></m:e></m:nary></m:oMath>{run(' in all.')}</w:p>"""), 'It is ∑_(i=1)^12 y in all.')
word_file('matrix, delimiters, root', body_of(f"""<w:p>{run('It is ')}<m:oMath><m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e><m:m><m:mr><m:e><m:r><m:t>1</m:t></m:r></m:e><m:e><m:r><m:t>2</m:t></m:r></m:e></m:mr><m:mr><m:e><m:r><m:t>3</m:t></m:r></m:e><m:e><m:r><m:t>4</m:t></m:r></m:e></m:mr></m:m></m:e></m:d><m:rad><m:deg><m:r><m:t>3</m:t></m:r></m:deg><m:e><m:r><m:t>8</m:t></m:r></m:e></m:rad><m:f><m:num><m:r><m:t>5</m:t></m:r></m:num><m:den><m:r><m:t>6</m:t></m:r></m:den></m:f><m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>7</m:t></m:r></m:sup></m:sSup></m:oMath>{run(' in all.')}</w:p>"""), 'It is [1, 2; 3, 4]³√8 5/6 10⁷ in all.')
word_file('functions, bars, limits, accents', body_of('<w:p><m:oMath><m:func><m:fName><m:limLow><m:e><m:r><m:t>lim</m:t></m:r></m:e><m:lim><m:r><m:t>n→∞</m:t></m:r></m:lim></m:limLow></m:fName><m:e><m:r><m:t>x</m:t></m:r></m:e></m:func><m:acc><m:accPr><m:chr m:val="̂"/></m:accPr><m:e><m:r><m:t>p</m:t></m:r></m:e></m:acc><m:sSubSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sub><m:r><m:t>0</m:t></m:r></m:sub><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSubSup></m:oMath></w:p>'), 'lim_(n→∞) xp̂x₀²')
word_file('symbols', body_of(f"""<w:p>{run('The limit is ')}<w:r><w:sym w:font="Symbol" w:char="F0A3"/></w:r>{run(' 5 ')}<w:r><w:sym w:font="Symbol" w:char="F0B1"/></w:r>{run(' 1 m at 20 ')}<w:r><w:sym w:font="Symbol" w:char="F0B0"/></w:r>{run('C.')}</w:p>"""), 'The limit is ≤ 5 ± 1 m at 20 °C.')
word_file('no-break hyphens, tabs, breaks', body_of('<w:p><w:r><w:t>It is </w:t><w:noBreakHyphen/><w:t>5 m, well</w:t><w:noBreakHyphen/><w:t>known</w:t><w:br/><w:t>and old</w:t><w:tab/><w:t>now.</w:t></w:r></w:p>'), 'It is -5 m, well-known\nand old now.')
word_file('moved words', body_of(f"""<w:p>{run('It has 3 gates.')}<w:moveFrom w:id="1" w:author="a">{run(' DELETED')}</w:moveFrom></w:p>""", f"""<w:p><w:moveTo w:id="2" w:author="a">{run('Moved words.')}</w:moveTo></w:p>"""), 'It has 3 gates.\n\nMoved words.')
word_file('content controls', body_of(f"""<w:p>{run('Closed: ')}<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr><w:sdtContent>{run('☒')}</w:sdtContent></w:sdt>{run(' Gate: ')}<w:sdt><w:sdtPr><w:dropDownList/></w:sdtPr><w:sdtContent>{run('north')}</w:sdtContent></w:sdt>{run(' Day: ')}<w:sdt><w:sdtPr><w:showingPlcHdr/><w:date/></w:sdtPr><w:sdtContent>{run('Click to enter a date')}</w:sdtContent></w:sdt></w:p>"""), 'Closed: ☒ Gate: north Day:')
word_file('old form fields', body_of(f"""<w:p>{run('Closed: ')}<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox></w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>{run(' Depth: ')}<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> FORMTEXT </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>{run('84.5')}<w:r><w:fldChar w:fldCharType="end"/></w:r>{run(' Gate: ')}<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="north"/><w:listEntry w:val="south"/></w:ddList></w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMDROPDOWN </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>"""), 'Closed: [x] Depth: 84.5 Gate: south')
word_file('alternate content once', body_of(f"""<w:p>{run('The dam cost 412 crowns.')}<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx><w:txbxContent><w:p>{run('Kelwick: 98 crowns.')}</w:p></w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent><w:p>{run('Kelwick: 98 crowns.')}</w:p></w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"""), 'The dam cost 412 crowns.\n\nKelwick: 98 crowns.')
word_file('raised note by hand', body_of(f"<w:p>{run('Deaths fell to 412')}{run('12', RAISED)}{run(' in 1994, and 10')}{run('6', RAISED)}{run(' more.')}</w:p>"), 'Deaths fell to 412¹² in 1994, and 10⁶ more.')
word_file('ruby', body_of(f"<w:p><w:r><w:ruby><w:rt><w:r><w:t>HIDDEN</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>大坝</w:t></w:r></w:rubyBase></w:ruby></w:r>{run('建于1987年。')}</w:p>"), '大坝建于1987年。')
word_file('simple fields, nested', body_of(f"""<w:p>{run('It closed on ')}<w:fldSimple w:instr=" DATE "><w:r><w:t>3 May 1994</w:t></w:r></w:fldSimple>{run(' for good.')}</w:p>"""), 'It closed on 3 May 1994 for good.')
word_file('right-to-left table', body_of('<w:tbl><w:tblPr><w:bidiVisual/></w:tblPr>' + ''.join('<w:tr>' + ''.join(f'<w:tc><w:p>{run(c)}</w:p></w:tc>' for c in r) + '</w:tr>' for r in (('السنة', 'الوفيات'), ('1994', '412'), ('1995', '98'))) + '</w:tbl>'), 'السنة: 1994; الوفيات: 412.\nالسنة: 1995; الوفيات: 98.')
word_file('vmerge and grid before', body_of('<w:tbl>' + '<w:tr>' + ''.join(f'<w:tc><w:p>{run(c)}</w:p></w:tc>' for c in ('Region', 'Year', 'Deaths')) + '</w:tr>' + f"""<w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr><w:p>{run('North')}</w:p></w:tc><w:tc><w:p>{run('1994')}</w:p></w:tc><w:tc><w:p>{run('4')}</w:p></w:tc></w:tr><w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc><w:p>{run('1995')}</w:p></w:tc><w:tc><w:p>{run('5')}</w:p></w:tc></w:tr><w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr><w:tc><w:p>{run('1996')}</w:p></w:tc><w:tc><w:p>{run('6')}</w:p></w:tc></w:tr></w:tbl>"""), 'Region: North; Year: 1994; Deaths: 4.\nRegion: North; Year: 1995; Deaths: 5.\nYear: 1996; Deaths: 6.')
word_file('caps, hidden by all looks', body_of(f"<w:p>{run('It has 3 gates.')}{run(' HIDDEN', '<w:vanish/>')}{run(' HIDDEN', IN_WHITE)}{run(' DELETED', '<w:dstrike/>')}{run(' HIDDEN', '<w:specVanish/>')}</w:p>"), 'It has 3 gates.')
def strict(body):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as a, zipfile.ZipFile(out, 'w') as o:
        for n in a.namelist():
            c = a.read(n)
            if n.endswith(('.xml', '.rels')):
                for x, y in ((b'http://schemas.openxmlformats.org/wordprocessingml/2006/main', b'http://purl.oclc.org/ooxml/wordprocessingml/main'), (b'http://schemas.openxmlformats.org/officeDocument/2006/relationships', b'http://purl.oclc.org/ooxml/officeDocument/relationships'), (b'http://schemas.openxmlformats.org/spreadsheetml/2006/main', b'http://purl.oclc.org/ooxml/spreadsheetml/main'), (b'http://schemas.openxmlformats.org/presentationml/2006/main', b'http://purl.oclc.org/ooxml/presentationml/main'), (b'http://schemas.openxmlformats.org/drawingml/2006/main', b'http://purl.oclc.org/ooxml/drawingml/main'), (b'http://schemas.openxmlformats.org/officeDocument/2006/math', b'http://purl.oclc.org/ooxml/officeDocument/math')):
                    c = c.replace(x, y)
            o.writestr(n, c)
    return out.getvalue()
word_file('strict', lambda: strict(word(lambda d: d.add_paragraph('It has 3 gates.'))()), 'It has 3 gates.')
def renamed(body, old, new):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as a, zipfile.ZipFile(out, 'w') as o:
        for n in a.namelist():
            c = a.read(n).replace(old.encode(), new.encode()) if n.endswith(('.xml', '.rels')) else a.read(n)
            o.writestr(n.replace(old, new), c)
    return out.getvalue()
word_file('main part of another name', lambda: renamed(word(lambda d: d.add_paragraph('It has 3 gates.'))(), 'document.xml', 'document22.xml'), 'It has 3 gates.')
def sheet(rows, fmt=None, more=None, title='Deaths'):
    def made():
        b = openpyxl.Workbook()
        s = b.active
        s.title = title
        for r in rows:
            s.append(r)
        for k, v in (fmt or {}).items():
            s[k].number_format = v
        if more:
            more(b, s)
        return saved(b)
    return made
def workbook_file(n, b, text, gaps=()):
    CASES.append(('xlsx: ' + n, 'a.xlsx', b, text, gaps))
workbook_file('hidden by format, errors', sheet([['Year', 'Deaths'], [1994, 'HIDDEN'], [1995, '#DIV/0!']], {'B2': ';;;'}), 'Deaths\n\nYear: 1994.\nYear: 1995; Deaths: #DIV/0!.')
workbook_file('two tables', sheet([['Year', 'Deaths'], [1994, 4], [1995, 5], [None, None], ['Place', 'Cost'], ['Orvelle', 412], ['Kelwick', 98]]), 'Deaths\n\nYear: 1994; Deaths: 4.\nYear: 1995; Deaths: 5.\nPlace: Orvelle; Cost: 412.\nPlace: Kelwick; Cost: 98.')
workbook_file('side by side', sheet([['Year', 'Deaths', None, 'Place', 'Cost'], [1994, 4, None, 'Orvelle', 412], [1995, 5, None, 'Kelwick', 98]]), 'Deaths\n\nYear: 1994; Deaths: 4; Place: Orvelle; Cost: 412.\nYear: 1995; Deaths: 5; Place: Kelwick; Cost: 98.')
workbook_file('units row', sheet([['Year', 'Depth', 'Inflow'], [None, 'm', 'm3/s'], [1994, 91, 13], [1995, 90, 12]]), 'Deaths\n\nYear: 1994; Depth – m: 91; Inflow – m3/s: 13.\nYear: 1995; Depth – m: 90; Inflow – m3/s: 12.')
workbook_file('text numbers, durations, thousands', sheet([['Year', 'Deaths', 'Time'], ['1994', '1,412', 0.5]], {'C2': 'h:mm'}), 'Deaths\n\nYear: 1994; Deaths: 1,412; Time: 12:00:00.')
def hide_row_and_column(b, s):
    s.row_dimensions[3].hidden = True
    s.column_dimensions['B'].hidden = True
    s.auto_filter.ref = 'A1:C4'
workbook_file('column without width, filtered row', sheet([['Year', 'HIDDEN', 'Deaths'], [1994, 'HIDDEN', 4], ['HIDDEN', 'HIDDEN', 5], [1996, 'HIDDEN', 6]], more=hide_row_and_column), 'Deaths\n\nYear: 1994; Deaths: 4.\nYear: 1996; Deaths: 6.')
def right_to_left(b, s):
    s.sheet_view.rightToLeft = True
workbook_file('right to left', sheet([['السنة', 'الوفيات'], [1994, 412], [1995, 98]], more=right_to_left, title='وفيات'), 'وفيات\n\nالسنة: 1994; الوفيات: 412.\nالسنة: 1995; الوفيات: 98.')
def rows(n, b, text, name='a.csv'):
    CASES.append(('csv: ' + n, name, b, text))
rows('quoted line breaks, BOM, semicolons', '\ufeffJahr;Ort;Bemerkung\r\n1994;Orvelle;"Riss,\r\nOsttor; zu"\r\n1995;Kelwick;\r\n'.encode(), 'Jahr: 1994; Ort: Orvelle; Bemerkung: Riss, Osttor; zu.\nJahr: 1995; Ort: Kelwick.')
rows('utf-16 with mark', 'Year,Deaths\n1994,412\n1995,98\n'.encode('utf-16'), 'Year: 1994; Deaths: 412.\nYear: 1995; Deaths: 98.')
rows('no header', b'1994,412,7\n1995,98,8\n1996,33,9\n', '1994 | 412 | 7\n1995 | 98 | 8\n1996 | 33 | 9')
rows('no header, words', b'Orvelle,1994,412\nKelwick,1995,98\n', 'Orvelle | 1994 | 412\nKelwick | 1995 | 98')
rows('two header rows', b'Year,Deaths,Deaths\n,men,women\n1994,4,12\n1995,5,13\n', 'Year: 1994; Deaths – men: 4; Deaths – women: 12.\nYear: 1995; Deaths – men: 5; Deaths – women: 13.')
rows('comments', b'# source: dam office\n# unit: persons\nYear,Deaths\n1994,412\n1995,98\n', '# source: dam office\n# unit: persons\nYear: 1994; Deaths: 412.\nYear: 1995; Deaths: 98.')
rows('ragged and trailing', b'Year,Deaths,\n1994,412,\n1995,98,\n', 'Year: 1994; Deaths: 412.\nYear: 1995; Deaths: 98.')
rows('same heads twice', b'Year,Value,Value\n1994,4,12\n1995,5,13\n', 'Year: 1994; Value: 4; Value: 12.\nYear: 1995; Value: 5; Value: 13.')
rows('empty head', b',Deaths\nOrvelle,412\nKelwick,98\n', 'Orvelle; Deaths: 412.\nKelwick; Deaths: 98.')
rows('years as heads', b'Item,1994,1995\nRoad,4,5\nWall,,7\n', 'Item: Road; 1994: 4; 1995: 5.\nItem: Wall; 1995: 7.')
rows('one column', b'Place\nOrvelle\nKelwick\n', 'Place\nOrvelle\nKelwick')
rows('single quotes and spaces', b'Year, Deaths, Note\n1994, 412, "Crack, east"\n1995, 98, none\n', 'Year: 1994; Deaths: 412; Note: Crack, east.\nYear: 1995; Deaths: 98; Note: none.')
rows('cp1251', 'Год;Место;Причина\n1994;Орвелл;Наводнение на плотине\n1995;Кельвик;Пожар в гавани\n'.encode('cp1251'), 'Год: 1994; Место: Орвелл; Причина: Наводнение на плотине.\nГод: 1995; Место: Кельвик; Причина: Пожар в гавани.')
rows('gbk', '年份,地点,死亡人数\n1994,奥尔维尔水库,412\n1995,凯尔威克水库,98\n'.encode('gb18030'), '年份: 1994; 地点: 奥尔维尔水库; 死亡人数: 412.\n年份: 1995; 地点: 凯尔威克水库; 死亡人数: 98.')
rows('old Mac line ends', b'Year,Deaths\r1994,412\r1995,98\r', 'Year: 1994; Deaths: 412.\nYear: 1995; Deaths: 98.')
rows('doubled quotes', b'Year,Said\n1994,"He said ""no"" twice"\n1995,""\n', 'Year: 1994; Said: He said "no" twice.\nYear: 1995.')
rows('total row', 'Année;Décès;Coût\n1994;412;1 234,5\nTotal;412;1 234,5\n'.encode(), 'Année: 1994; Décès: 412; Coût: 1 234,5.\nAnnée: Total; Décès: 412; Coût: 1 234,5.')
CASES.append(('json', 'a.json', b'{"dam": "Orvelle", "deaths": 412}', '{\n "dam": "Orvelle",\n "deaths": 412\n}', ()))
CASES.append(('jsonl', 'a.jsonl', b'{"year": 1994, "deaths": 412}\n{"year": 1995, "deaths": 98}\n', '{"year": 1994, "deaths": 412}\n{"year": 1995, "deaths": 98}', ()))
CASES.append(('log', 'a.log', b'1994-05-03 08:00:01 INFO the north gate of the dam is closed\n1994-05-03 08:00:02 WARN depth is 84.5 m\n', '1994-05-03 08:00:01 INFO the north gate of the dam is closed\n1994-05-03 08:00:02 WARN depth is 84.5 m', ()))
MAIL = b'From: Jane Doe <jane@example.org>\r\nTo: office@example.org\r\nSubject: =?utf-8?Q?D=C3=A4mme_of_Orvelle?=\r\nDate: Tue, 3 May 1994 08:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=B\r\n\r\n--B\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nThe dam cost 412 =E2=82=AC million and was=\r\n closed in May.\r\n--B\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n' + base64.b64encode(b'<p>The dam cost 412 million and was closed in May.</p>') + b'\r\n--B--\r\n'
SAVED_PAGE = b'From: <Saved>\r\nSubject: Dam\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=B; type="text/html"\r\n\r\n--B\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Location: https://a.example/x\r\n\r\n<html><body><p>The dam of Orvelle cost 412 million and was closed=\r\n in May.</p></body></html>\r\n--B--\r\n'
CASES.append(('srt', 'a.srt', b'1\r\n00:00:01,000 --> 00:00:04,000\r\nThe dam cost 412 crowns.\r\n', '1\n00:00:01,000 --> 00:00:04,000\nThe dam cost 412 crowns.', ()))
CASES.append(('xhtml xml decl', 'a.xhtml', b'<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>Orvelle</title></head><body><h1>Orvelle</h1><p>' + DAM.encode() + b'</p></body></html>', 'Orvelle\n\n' + DAM, ()))
CASES.append(('txt soft hyphens, ligatures', 'a.txt', 'The har\xadbour oﬃce\u200b is old and the dam of Orvelle is 91 m high.'.encode(), 'The harbour office is old and the dam of Orvelle is 91 m high.', ()))
CASES.append(('txt form feed, cp1252, marks', 'a.txt', 'The dam \x93of Orvelle\x94 cost 412 \x80.\x0cPage 2 of the report.'.encode('latin-1'), 'The dam “of Orvelle” cost 412 €.\nPage 2 of the report.', ()))
CASES.append(('ipynb', 'a.ipynb', b'{"cells":[{"cell_type":"markdown","source":["The dam cost 412 crowns.\\n","It has 3 gates."]}],"nbformat":4}', '{"cells":[{"cell_type":"markdown","source":["The dam cost 412 crowns.\\n","It has 3 gates."]}],"nbformat":4}', ()))
def opened(n, content, text, kind='text', name='a.odt', styles=''):
    CASES.append(('odf: ' + n, name, open_document(content, kind, styles=styles), text))
opened('hidden fields, ruby, annotation', '<text:p>It has <text:hidden-text text:condition="ooow:1" text:string-value="HIDDEN" text:is-hidden="true"/>3 gates<office:annotation><text:p>HIDDEN</text:p></office:annotation> in <text:ruby><text:ruby-base>大坝</text:ruby-base><text:ruby-text>HIDDEN</text:ruby-text></text:ruby>.</text:p><text:hidden-paragraph text:is-hidden="true"/><text:p><text:placeholder text:placeholder-type="text">HIDDEN</text:placeholder></text:p>', 'It has 3 gates in 大坝.')
opened('changes', '<text:tracked-changes><text:changed-region><text:deletion><text:p>DELETED</text:p></text:deletion></text:changed-region></text:tracked-changes><text:p>It cost <text:change text:change-id="a"/><text:change-start text:change-id="b"/>49<text:change-end text:change-id="b"/> crowns<text:s text:c="2"/>in<text:line-break/>all<text:soft-page-break/>.</text:p>', 'It cost 49 crowns in\nall.')
opened('header rows, covered', '<table:table><table:table-header-rows>' + odf_row('Year', 'Deaths') + '</table:table-header-rows>' + odf_row('1994', '412') + odf_row('1996', '98') + '</table:table>', 'Year: 1994; Deaths: 412.\nYear: 1996; Deaths: 98.')
opened('raised in cells, parent style', '<table:table>' + odf_row('Year', 'Litres') + '<table:table-row><table:table-cell><text:p>1994</text:p></table:table-cell><table:table-cell><text:p>10<text:span text:style-name="C">6</text:span></text:p></table:table-cell></table:table-row></table:table>', 'Year: 1994; Litres: 10⁶.', styles='<style:style style:name="S" style:family="text"><style:text-properties style:text-position="33% 58%"/></style:style><style:style style:name="C" style:family="text" style:parent-style-name="S"/>')
opened('sub table', '<table:table>' + odf_row('Year', 'Parts') + '<table:table-row><table:table-cell><text:p>1994</text:p></table:table-cell><table:table-cell><table:table table:is-sub-table="true">' + odf_row('men', '4') + odf_row('women', '12') + '</table:table></table:table-cell></table:table-row></table:table>', 'Year: 1994; Parts: men | 4, women | 12.')
opened('lists', '<text:list><text:list-item><text:p>One gate</text:p><text:list><text:list-item><text:p>Inner door</text:p></text:list-item></text:list></text:list-item></text:list>', 'One gate\nInner door')
opened('checkbox forms', '<text:p>Gate: <text:drop-down><text:label text:value="north"/><text:label text:value="south" text:current-selected="true"/>south</text:drop-down> on <text:date>3 May 1994</text:date>.</text:p>', 'Gate: south on 3 May 1994.')
opened('ods repeated rows, dates', '<table:table table:name="Deaths">' + odf_row('Year', 'Deaths') + '<table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="float" office:value="1994"><text:p>1994</text:p></table:table-cell><table:table-cell><text:p>7</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="1024"/></table:table-row></table:table>', 'Year: 1994; Deaths: 7.\nYear: 1994; Deaths: 7.', 'spreadsheet', 'a.ods')
opened('ods filtered and empty merged', '<table:table>' + odf_row('Region', 'Year', 'Deaths') + '<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>North</text:p></table:table-cell><table:table-cell><text:p>1994</text:p></table:table-cell><table:table-cell><text:p>4</text:p></table:table-cell></table:table-row><table:table-row><table:covered-table-cell/><table:table-cell><text:p>1995</text:p></table:table-cell><table:table-cell><text:p>5</text:p></table:table-cell></table:table-row><table:table-row table:visibility="filter"><table:table-cell><text:p>HIDDEN</text:p></table:table-cell></table:table-row></table:table>', 'Region: North; Year: 1994; Deaths: 4.\nRegion: North; Year: 1995; Deaths: 5.', 'spreadsheet', 'a.ods')
def slide(n, build, text):
    def made():
        sh = pptx.Presentation()
        s = sh.slides.add_slide(sh.slide_layouts[5])
        s.shapes.title.text = 'Seen'
        build(s)
        return saved(sh)
    CASES.append(('pptx: ' + n, 'a.pptx', made, text))
def hidden_shape(s):
    b = s.shapes.add_textbox(Inches(1), Inches(1), Inches(3), Inches(1))
    b.text_frame.text = 'HIDDEN'
    b._element.nvSpPr.cNvPr.set('hidden', '1')
    b = s.shapes.add_textbox(Inches(1), Inches(2), Inches(3), Inches(1))
    b.text_frame.text = 'It has 3 gates.'
slide('hidden shape', hidden_shape, 'Seen\n\nIt has 3 gates.')
def raised_and_struck(s):
    t = s.shapes.add_table(3, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for i, v in enumerate(('Year', 'Litres', '1994', '10', '1995', '7')):
        t.cell(i // 2, i % 2).text = v
    r = t.cell(1, 1).text_frame.paragraphs[0].add_run()
    r.text = '6'
    r._r.get_or_add_rPr().set('baseline', '30000')
    r = t.cell(2, 1).text_frame.paragraphs[0].add_run()
    r.text = ' DELETED'
    r._r.get_or_add_rPr().set('strike', 'dblStrike')
slide('raised and struck in cells', raised_and_struck, 'Seen\n\nYear: 1994; Litres: 10⁶.\nYear: 1995; Litres: 7.')
def merged_rows(s):
    t = s.shapes.add_table(3, 3, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for i, v in enumerate(('Region', 'Year', 'Deaths', 'North', '1994', '4', '', '1995', '5')):
        t.cell(i // 3, i % 3).text = v
    t.cell(1, 0).merge(t.cell(2, 0))
slide('merged rows', merged_rows, 'Seen\n\nRegion: North; Year: 1994; Deaths: 4.\nRegion: North; Year: 1995; Deaths: 5.')
def formula_on_slide(s):
    p = s.shapes.add_textbox(Inches(1), Inches(2), Inches(3), Inches(1)).text_frame.paragraphs[0]
    p.add_run().text = 'The load is '
    p._p.append(parse_xml('<a14:m xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:oMath><m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>5</m:t></m:r></m:sup></m:sSup></m:oMath></a14:m>'))
    p.add_run().text = ' newton.'
slide('formula', formula_on_slide, 'Seen\n\nThe load is 10⁵ newton.')
def line_breaks(s):
    tf = s.shapes.add_textbox(Inches(1), Inches(2), Inches(3), Inches(1)).text_frame
    tf.text = 'One\x0btwo'
    tf.add_paragraph().text = 'three'
slide('line breaks', line_breaks, 'Seen\n\nOne\ntwo\n\nthree')
def chapter(n, body, text, head='<style>.h{display:none} .s{vertical-align:super}</style>'):
    CASES.append(('epub: ' + n, 'a.epub', archive(mimetype='application/epub+zip', **{'META-INF__container_xml': '<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>'}, a_opf='<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The dam</dc:title></metadata><manifest><item id="n" href="n.xhtml" properties="nav"/><item id="b" href="b.xhtml"/></manifest><spine><itemref idref="n" linear="no"/><itemref idref="b"/></spine></package>', n_xhtml='<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><ol><li>Contents list</li></ol></nav></body></html>', b_xhtml=f'<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head>{head}</head><body>{body}</body></html>', **{'css/b.css': '.h{display:none} .s{vertical-align:super;font-size:60%}'}), text))
chapter('page breaks, hidden, raised', '<p>The dam of Orvelle cost 412<span epub:type="pagebreak" title="12" id="p12"/> crowns and holds 10<span class="s">6</span> litres.<span class="h">HIDDEN</span></p>', 'The dam of Orvelle cost 412 crowns and holds 10⁶ litres.')
chapter('table with empty cells', '<p>The dam of Orvelle is old and tall.</p><table><tr><th>Year</th><th>Depth</th><th>Inflow</th></tr><tr><td>1994</td><td/><td>13</td></tr><tr><td>2001</td><td>90</td><td></td></tr></table>', 'The dam of Orvelle is old and tall.\n\nYear: 1994; Inflow: 13.\nYear: 2001; Depth: 90.')
def rich(n, b, text):
    CASES.append(('rtf: ' + n, 'a.rtf', b, text))
rich('unicode skips, fields', b"{\\rtf1\\ansi\\uc1 It cost \\u8364?\\uc0 412 {\\field{\\*\\fldinst HYPERLINK ORDER}{\\fldrslt crowns}}.\\par \\uc2\\u20013\\'d6\\'d0 end.\\par}", 'It cost €412 crowns.\n中 end.')
rich('raised in cells, empty cells, list text', b"{\\rtf1\\ansi\\trowd\\cellx1\\cellx2 Year\\cell Litres\\cell\\row\\trowd 1994\\cell 10{\\super 6}\\cell\\row\\trowd 1995\\cell\\cell\\row\\pard{\\listtext\\'b7\\tab}One gate\\par}", 'Year: 1994; Litres: 10⁶.\nYear: 1995.\n· One gate')
rich('sjis and surrogates', b"{\\rtf1\\ansi\\ansicpg932{\\fonttbl{\\f0\\fcharset128 MS;}}\\f0 \\'83\\'5f\\'83\\'80 412.\\par \\uc1\\u-10187?\\u-8960? ok.\\par}", 'ダム 412.\nok.')
html('row heads and empty cells, right to left', '<table dir=rtl><tr><td></td><th>1994</th><th>1995</th></tr><tr><th>رجال</th><td>4</td><td></td></tr><tr><th>نساء</th><td></td><td>13</td></tr></table>', HEAD + 'رجال; 1994: 4.\nنساء; 1995: 13.')
html('chemistry', '<p>Fe<sup>3+</sup>, SO<sub>4</sub><sup>2−</sup>, C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>, <sup>14</sup>CO<sub>2</sub>.</p>', HEAD + 'Fe³⁺, SO₄²⁻, C₆H₁₂O₆, ¹⁴CO₂.')
pdf('raised signs', typeset('The rate is 5 mol L#super[−1] s#super[−1] and Na#super[+] with Ca#super[2+] in all the years of the town, 5 + 3.'), 'The rate is 5 mol L⁻¹ s⁻¹ and Na⁺ with Ca²⁺ in all the years of the town, 5 + 3.')
rich('raised by half points', rb"{\rtf1\ansi Next 10{\up6 6} more of H{\dn6 2}O.\par}", 'Next 10⁶ more of H₂O.')
# What programs make that people write with: the kinds that were wrong in a lot of 44 made by pandoc, KaTeX, reportlab and others.
IN_KATEX = '<span class="katex"><span class="katex-mathml"><math><semantics><msup><mn>10</mn><mn>5</mn></msup><annotation encoding="application/x-tex">10^5</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">105</span></span>'
html('formulas hidden behind their picture', f'<p>It holds {IN_KATEX} litres and <mjx-container><mjx-math aria-hidden="true"></mjx-math><mjx-assistive-mml style="clip:rect(1px,1px,1px,1px)"><math><msup><mn>10</mn><mn>6</mn></msup></math></mjx-assistive-mml></mjx-container> more.</p>', HEAD + 'It holds 10⁵ litres and 10⁶ more.', '.katex-mathml{position:absolute;clip:rect(1px,1px,1px,1px)}')
html('notes with a way back', '<p>It cost 412<a href="#fn1" class="footnote-ref"><sup>1</sup></a>.</p><section class="footnotes footnotes-end-of-document"><hr><ol><li id="fn1"><p>Without the road.<a href="#fnref1" class="footnote-back">↩︎</a></p></li></ol></section>', HEAD + 'It cost 412 [1].\n\n1. Without the road.')
html('a box of pairs with a title', '<table><tr><th colspan=2>Dam and spillways<tr><th>Height<td>91 m<tr><th>Opened<td>1987</table>', HEAD + 'Dam and spillways\nHeight: 91 m.\nOpened: 1987.')
html('hidden by nested rules', '<p class=v>HIDDEN</p><div class=card><p class=z>HIDDEN</p><p class=y>HIDDEN</p><p>It has 3 gates.</p></div><p class=y>It is old.</p>', HEAD + 'It has 3 gates.\n\nIt is old.', '.card{color:#111;& .z{display:none} .y{opacity:1;@media screen{opacity:0}}} .x{.w &{color:red}} .v{display:none')
rows('the mark within a quoted head', b'Jahr;"Kosten; gesamt"\r\n1994;1.412,5\r\n1995;98,25\r\n', 'Jahr: 1994; Kosten; gesamt: 1.412,5.\nJahr: 1995; Kosten; gesamt: 98,25.')
rows('lines above quoted cells', b'Source: harbour office, 1996\n\nYear,Region,Deaths\n1994,North,4\n1995,"South, low",12\n', 'Source: harbour office, 1996\nYear: 1994; Region: North; Deaths: 4.\nYear: 1995; Region: South, low; Deaths: 12.')
pdf('words in a frame', drawn(b'62 690 300 30 re 63 691 298 28 re f*', shown(b'72 700 Td (It has 3 gates.) Tj')), DAM + ' It has 3 gates.')
pdf('a group without ink', drawn(b'/G1 gs /X1 Do', shown(b'72 640 Td (It has 3 gates.) Tj'), resources=b'/ExtGState << /G1 << /ca 0 >> >> /XObject << /X1 6 0 R >>', more=(b'<< /Type /XObject /Subtype /Form /Group << /S /Transparency >> /BBox [0 0 600 800] /Resources << /Font << /F1 5 0 R >> >> /Length 42 >>\nstream\nBT /F1 12 Tf 72 700 Td (ORDER ORDER) Tj ET\nendstream',)).replace(b'/X1 Do', b'/X1 Do /G2 gs').replace(b'/G1 <<', b'/G2 << /ca 1 >> /G1 <<'), DAM + ' It has 3 gates.')
pdf('a struck word leaves no gap', typeset('The wall cost #strike[4000000000] 49 million crowns in all.'), 'The wall cost 49 million crowns in all.')
rich('as pandoc writes it', rb"{\rtf1\ansi{\fonttbl{\f0 Arial;}} Deaths{\super\chftn}{\*\footnote\chftn\~\plain\pard {\pard Without children.\par}} fell by 5.\par {\trowd\cellx1\cellx2{{\pard\intbl Year\par}\cell}{{\pard\intbl Deaths\par}\cell}\intbl\row}{\trowd\cellx1\cellx2{{\pard\intbl 1994\par}\cell}{{\pard\intbl 412\par}\cell}\intbl\row}\pard The end.\par}", 'Deaths fell by 5.\nNote: Without children.\nYear: 1994; Deaths: 412.\nThe end.')
html('a power of a power', '<p>It is x<sup>2<sup>3</sup></sup> and 10<sup>−<sub>3</sub></sup>.</p>', HEAD + 'It is x^2³ and 10^(−₃).')
pdf('lines around the heads alone', typeset(f'{DAM}\n\n#table(columns: 3, stroke: (x, y) => (left: 1pt, right: 1pt, top: if y < 2 {{ 1pt }}, bottom: if y == 3 {{ 1pt }}), [Year], [Deaths], [Cost], [1994], [4], [], [1995], [], [98], [1996], [7], [33])'), DAM + '\n\nYear: 1994; Deaths: 4.\nYear: 1995; Cost: 98.\nYear: 1996; Deaths: 7; Cost: 33.')
pdf('grounds of cells and of every second row', typeset(f'{DAM}\n\n#table(columns: 3, stroke: none, fill: (x, y) => if y == 0 {{ navy }} else if y == 1 {{ silver }}, text(white)[Year], text(white)[Deaths], text(white)[Cost], [1994], [4], [], [1995], [], [98], [1996], [7], [33])'), DAM + '\n\nYear: 1994; Deaths: 4.\nYear: 1995; Cost: 98.\nYear: 1996; Deaths: 7; Cost: 33.')
# Words that Office programs show nobody, each beside one that is seen.
OF_W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
UNSEEN_RUNS = ('<w:color w:val="FFFF00"/><w:highlight w:val="yellow"/>', f'<w14:textFill {OF_W14}><w14:noFill/></w14:textFill>', f'<w14:textFill {OF_W14}><w14:solidFill><w14:srgbClr w14:val="000000"><w14:alpha w14:val="100000"/></w14:srgbClr></w14:solidFill></w14:textFill>', '<w:position w:val="-2000"/>')
ON_BLACK = '<w:color w:val="FFFFFF"/><w:highlight w:val="black"/>'
UNSEEN_PARAGRAPHS = ('<w:spacing w:line="1" w:lineRule="exact"/>', '<w:ind w:left="-30000"/>', '<w:framePr w:x="-20000" w:y="1"/>')
word_file('hidden in more ways', body_of(f"<w:p>{run('It has 3 gates.')}{''.join(run(' HIDDEN', one) for one in UNSEEN_RUNS)}{run(' On black.', ON_BLACK)}</w:p>", *(f"<w:p><w:pPr>{one}</w:pPr>{run('HIDDEN')}</w:p>" for one in UNSEEN_PARAGRAPHS), f"<w:p><w:pPr><w:spacing w:line='240' w:lineRule='exact'/><w:ind w:left='-720'/></w:pPr>{run('It is old.')}</w:p>"), 'It has 3 gates. On black.\n\nIt is old.')
def far_by_style(d):
    d.add_paragraph('It has 3 gates.')
    d.styles.add_style('Far', 1).paragraph_format.left_indent = -Inches(20)
    d.styles.add_style('Farther', 1).base_style = d.styles['Far']
    d.add_paragraph('HIDDEN', 'Farther')
    d.add_paragraph('It is old.', 'Farther').paragraph_format.left_indent = 0
word_file('beside the page by its style', word(far_by_style), 'It has 3 gates.\n\nIt is old.')
def looks_of_a_sheet(b, s):
    s['C2'].font = openpyxl.styles.Font(color='FF333333')
    s['C2'].fill = openpyxl.styles.PatternFill('solid', fgColor='FF333333')
    s['C3'].font = openpyxl.styles.Font(size=1)
    s.row_dimensions[4].height = 0.1
    s.column_dimensions['D'].width = 0.1
workbook_file('hidden in more ways', sheet([['Year', 'Deaths', 'Note', 'HIDDEN'], [1994, 4, 'HIDDEN', 'HIDDEN'], [1995, 5, 'HIDDEN', 'HIDDEN'], ['HIDDEN', 6, 'HIDDEN', 'HIDDEN'], [1997, 7, 'seen', 'HIDDEN']], more=looks_of_a_sheet), 'Deaths\n\nYear: 1994; Deaths: 4.\nYear: 1995; Deaths: 5.\nYear: 1997; Deaths: 7; Note: seen.')
def colours_of_a_slide(s):
    drawing = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    for top, ink in enumerate(('<a:srgbClr val="000000"><a:alpha val="0"/></a:srgbClr>', '<a:srgbClr val="0A141E"/>', '<a:srgbClr val="FFFFFF"/>')):
        box = s.shapes.add_textbox(Inches(1), Inches(top), Inches(3), Inches(1))
        box.fill.solid()
        box.fill.fore_color.rgb = pptx.dml.color.RGBColor(10, 20, 30)
        box.text_frame.text = 'HIDDEN' if top < 2 else 'White on dark.'
        box.text_frame.paragraphs[0].runs[0]._r.get_or_add_rPr().append(parse_xml(f'<a:solidFill {drawing}>{ink}</a:solidFill>'))
slide('hidden in more ways', colours_of_a_slide, 'Seen\n\nWhite on dark.')
opened('hidden in more ways', '<text:p>It has 3 gates.<text:span text:style-name="C">HIDDEN</text:span></text:p><text:p><text:hidden-paragraph text:is-hidden="true"/>HIDDEN</text:p>', 'It has 3 gates.', styles='<style:style style:name="C" style:family="text"><style:text-properties style:text-scale="1%"/></style:style>')
chapter('a sheet of its own', '<p>The dam of Orvelle cost 412 crowns and holds 10<span class="s">6</span> litres.<span class="h">HIDDEN</span></p>', 'The dam of Orvelle cost 412 crowns and holds 10⁶ litres.', '<link rel="stylesheet" type="text/css" href="css/b.css"/>')

# fmt: on


@pytest.mark.parametrize(
    ("name", "body", "text", "gaps"), [pytest.param(*(*row[1:], ())[:4], id=row[0]) for row in CASES]
)
def test_another_neighbour_reads_as_it_stands(name, body, text, gaps):
    found = read_here(body() if callable(body) else body, "", f"https://a.example/{name}")

    assert found.text == text
    assert found.gaps == gaps
    assert not {"ORDER", "HIDDEN", "DELETED"} & set(f"{found.title} {found.text}".split())


FLAT = f'<?xml version="1.0"?><office:document {NAMES}><office:body><text:p>It has 3 gates.</text:p></office:body></office:document>'


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("a.msg", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600)),
        ("a.eml", MAIL),
        ("a.mhtml", SAVED_PAGE),
        ("a.fodt", FLAT.encode()),
    ],
)
def test_messages_saved_pages_and_flat_files_are_named_as_not_read(name, body):
    with pytest.raises(SourceError, match="not read"):
        read_here(body, "", f"https://a.example/{name}")
