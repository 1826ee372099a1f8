"""Neighbours of the cases on figures, quotes, negation, people and addresses: the same kinds of fault in other words and languages."""

import pytest

from agents.report.bibliography import authors
from agents.verify.checks import carried, stance
from agents.verify.figures import figures
from agents.verify.quotes import find_quote
from agents.web.url_key import IN_TEXT, canonical

SAME = [
    ('25 км', '25 km', 'ru', 'en'), ('25 процентов', '25%', 'ru', 'en'), ('۲۵ درصد', '25%', 'fa', 'en'),
    ('٢٬٥٠٠ دولار', '2,500 dollars', 'ar', 'en'), ('Rs 2.5 crore', '₹25 million'),
    ("CHF 1'250'000", '1.25 million Swiss francs'), ('1 bar', '100 kPa'), ('四割', '40%', 'ja', 'ja'), ('三分の一', '三分之一', 'ja', 'zh'),
    ('1.2e-5 m', '0.000012 m'), ('1.2 × 10⁻⁵ mol', '1.2e-5 mol'), ('10^-3 g', '0.001 g'), ('3½ hours', '3.5 hours'),
    ('5‰', '0.5%'), ('5‰', '5 per mille'), ('£2bn', '£2 billion'), ('2,5 Mio. EUR', '2.5 million euros', 'de', 'en'),
    ('12-15 %', '12–15 percent'), ('12 to 15 per cent', '12-15%'), ('~40 birds', 'about 40 birds'),
    ('≥5 days', 'at least 5 days'), ('between 3 and 7 days', '3–7 days'), ('1/3 of voters', 'one third of voters'),
    ('3,5 Mrd. Euro', '3.5 billion euros', 'de', 'en'), ('US$1.2m', '1.2 million dollars'), ('€1.2M', '1.2 million euros'),
    ('$1.2 trillion', '$1,200 billion'), ('1,5 Billionen Euro', '1.5 trillion euros', 'de', 'en'),
    ('zwölf Prozent', '12 %', 'de', 'de'), ('vingt pour cent', '20 %', 'fr', 'fr'), ('veinte por ciento', '20%', 'es', 'es'),
    ('٥٪', '5%', 'ar', 'en'), ('五成', '50%', 'zh', 'en'), ('2.3億円', '230 million yen', 'ja', 'en'),
    ('45 mn euros', '45 million euros'), ('3k people', '3,000 people'), ('one in five people', '20% of people'),
    ('half a percent', '0.5 percent'), ('37 °C', '98.6 °F'), ('12 sq km', '12 km²'), ('5,000 kW', '5 MW'),
    ('20 hectares', '0.2 km²'), ('5 mg', '5000 µg'), ('5 μg', '5 µg'), ('10 km/h', '10 kph'),
    ('1.000.000 Einwohner', '1 million inhabitants', 'de', 'en'), ('1 234 567,5 €', '1,234,567.50 €', 'fr', 'en'),
    ('12–\n15 %', '12–15 %'), ('12 –15 %', '12-15%'), ('5 percent', 'five percent'), ('−5 °C', 'minus 5 °C'), ('-5 °C', '−5 °C'),
    ('1 200 000 человек', '1,2 млн человек', 'ru', 'ru'), ('15 тысяч человек', '15 000 человек', 'ru', 'ru'),
    ("2 milliards d'euros", '2 billion euros', 'fr', 'en'), ('dos mil millones de euros', '2 billion euros', 'es', 'en'),
    ('mil millones de euros', '1 billion euros', 'es', 'en'), ('quatre-vingts', '80', 'fr', 'fr'),
    ('soixante-dix personnes', '70 personnes', 'fr', 'fr'), ('dreieinhalb Stunden', '3,5 Stunden', 'de', 'de'),
    ('anderthalb Jahre', '1,5 Jahre', 'de', 'de'), ('一百二十万人', '120万人', 'zh', 'zh'), ('十二亿元', '1.2 billion yuan', 'zh', 'en'),
    ('百分之十二点五', '12.5%', 'zh', 'en'), ('两千人', '2000人', 'zh', 'zh'), ('3億5千万円', '350 million yen', 'ja', 'en'),
    ('१.५ करोड़ लोग', '15 million people', 'hi', 'en'), ('３，０００人', '3000人', 'ja', 'ja'),
    ('2 triệu người', '2 million people', 'vi', 'en'), ('2 milyon kişi', '2 million people', 'tr', 'en'),
    ('2 miljoner kronor', '2 million kronor', 'sv', 'en'), ('2 milhões de pessoas', '2 million people', 'pt', 'en'),
    ('4 tonnes', '4,000 kg'), ('3 ft', '36 inches'), ('1 mile', '1.609 km'), ('2 days', '48 hours'),
    ('five-and-a-half hours', '5.5 hours'), ('0·5 mg', '0.5 mg'), ('1.2·10^6 cells', '1.2 million cells'),
    ('6.02E23', '6.02 × 10²³'), ('ten thousand', '10,000'), ('nineteen hundred people', '1,900 people'),
    ('a hundred people', '100 people'), ('a million people', '1,000,000 people'), ('two and a half million', '2.5 million'),
    ('5 kg', '5 kilograms'), ('5 kilos', '5 kg'), ('12 m2', '12 m²'), ('a dozen eggs', '12 eggs'),
    ('half a million people', '500,000 people'), ('1.5 m people', '1.5 m people'), ('three quarters of voters', '75% of voters'),
    ('3/4 of voters', '75% of voters'), ('€ 3.2 billion', '3.2 bn euros'), ('US$ 5 million', '5 million US dollars'),
    ('5 milliards de dollars', '5 billion dollars', 'fr', 'en'), ('120 Tsd. Menschen', '120.000 Menschen', 'de', 'de'),
    ('1,2 Mrd. €', '1,2 Milliarden Euro', 'de', 'de'), ('30 Prozentpunkte', '30 percentage points', 'de', 'en'),
    ('1 in 4 adults', '25% of adults'), ('4.5x', '4.5 times'), ('2 × 10^3 cells', '2000 cells'), ('百分之五', '5%', 'zh', 'en'),
    ('5.5亿美元', '550 million dollars', 'zh', 'en'), ('1万2千人', '12,000 people', 'ja', 'en'), ('約3割', '30%', 'ja', 'en'),
    ('500만 명', '5 million people', 'ko', 'en'), ('٣٫٥ مليون نسمة', '3.5 million people', 'ar', 'en'),
    ('5 หมื่นคน', '50,000 คน', 'th', 'th'), ('5 миллионов рублей', '5 млн рублей', 'ru', 'ru'),
    ('15 tys. osób', '15 000 osób', 'pl', 'pl'), ('2 mln osób', '2 miliony osób', 'pl', 'pl'),
    ('1,5 miljard euro', '1.5 billion euros', 'nl', 'en'), ('90 km/h', '25 m/s'), ('1 inch', '2.54 cm'), ('100 °C', '212 °F'),
    ('3 weeks', '21 days'), ('2 h', '120 minutes'), ('5 MWh', '5,000 kWh'), ('1 hectare', '10,000 m²'), ('5 %', '5 pct'),
    ('20p.c.', '20%'), ('6 feet', '6 ft'), ('10 lb', '4.536 kg'), ('3 gallons', '3 gal'), ('1 litre', '1000 ml'),
    ('5 cm³', '5 ml'), ('1 km²', '100 ha'),
]  # fmt: skip
OTHER = [
    ('1.2e-5 m', '1.2e-6 m'), ('10^-3 g', '10^3 g'), ('3½ hours', '3 hours'), ('5‰', '5%'), ('£2bn', '£2m'), ('£2bn', '€2bn'),
    ('2,5 Mio. EUR', '2,5 Mrd. EUR', 'de', 'de'), ('1/3 of voters', '1/4 of voters'), ('5 kW', '5 kWh'), ('40 °C', '40 °F'),
    ('World War II', 'World War I'), ('1,5 Billionen Euro', '1.5 billion euros', 'de', 'en'), ('dozens of birds', '12 birds'),
    ('5 mg', '5 µg'), ('12-15 %', '12-16 %'), ('5 m', '5 m²'), ('5 km', '5 km/h'), ('5 GB', '5 Gb'), ('5 MW', '5 mW'),
    ('20 %', '20 percentage points'), ('3½', '31/2'), ('三成', '30人', 'zh', 'zh'), ('12亿', '12万', 'zh', 'zh'),
    ('十二', '二十', 'zh', 'zh'), ('5 млн', '5 млрд', 'ru', 'ru'), ('15 тыс.', '15 млн', 'ru', 'ru'),
    ('5 millones', '5 mil millones', 'es', 'es'), ('3 millions', '3 milliards', 'fr', 'fr'), ('−5 °C', '5 °C'), ('0.05', '0.5'),
    ('1,234', '1,243'), ('2 kg', '2 lb'), ('5 bn euros', '5 bn dollars'), ('twelve', 'twenty-one'),
    ('one in five people', 'one in six people'), ('quatre-vingts', 'vingt', 'fr', 'fr'), ('dreizehn', 'dreißig', 'de', 'de'),
    ('fünfzehn', 'fünfzig', 'de', 'de'), ('thirteen', 'thirty'), ('10⁶', '10⁵'), ('5 ppm', '5 ppb'), ('5 lakh', '5 crore'),
    ('第三', '三', 'zh', 'zh'), ('5 lb', '5 kg'), ('3/4 of voters', '3/5 of voters'), ('10 mmol', '10 mol'), ('5 μg', '5 ng'),
    ('1.5 m', '1.5 mm'), ('5 kWp', '5 kWh'), ('3割', '3人', 'ja', 'ja'), ('5억', '5만', 'ko', 'ko'), ('5 tys.', '5 mln', 'pl', 'pl'),
    ('2 gallons', '2 litres'), ('5 nm', '5 µm'), ('5 dB', '5 dBA'), ('5 hPa', '5 kPa'),
    ('5 million pounds', '5 million dollars'), ('9 a.m.', '9 p.m.'), ('20:30', '8:30'), ('1st', '2nd'), ('1990s', '1980s'),
    ('a score of 3-1', 'a score of 1-3'), ('5 to 1', '1 to 5'), ('12th century', '11th century'),
]  # fmt: skip
NO_AMOUNT = [
    ('Chapter IV describes the mill of Henry VIII.', 'en'), ('Vitamin C and section D.', 'en'),
    ('On 2021-03-04 it opened.', 'en'), ('Opened on 3/4/2021.', 'en'), ('Am 3.4.2021 eröffnet.', 'de'),
    ('The MIX of I and V.', 'en'), ('Der Rat tagt am Montag.', 'de'), ('在一起的人们一定会来。', 'zh'), ('一般来说，万一下雨。', 'zh'),
    ('Il y a un pont.', 'fr'), ('ISBN 978-3-16-148410-0', 'en'), ('the A4 road and B2B trade', 'en'), ('in 2019–21', 'en'),
    ('seit den 1990er-Jahren', 'de'), ('in the 1990s', 'en'), ('im 19. Jahrhundert', 'de'),
]  # fmt: skip
NOT_CARRIED = [
    ('Das Werk schloss 2012.', 'Das Werk wurde 2012 eröffnet.', 'de'), ('Die Stadt verkaufte das Schiff.', 'Die Stadt kaufte das Schiff.', 'de'),
    ('La fábrica cerró en 2012.', 'La fábrica abrió en 2012.', 'es'), ('Завод закрылся в 2012 году.', 'Завод открылся в 2012 году.', 'ru'),
    ('Экспорт вырос на 4 процента.', 'Экспорт снизился на 4 процента.', 'ru'), ('ارتفعت الصادرات بنسبة 4%.', 'انخفضت الصادرات بنسبة 4%.', 'ar'),
    ('Prices doubled.', 'Prices halved.', 'en'), ('Since 2010 the road is public.', 'Until 2010 the road was public.', 'en'),
    ('The bridge was built in 1960.', 'The bridge was demolished in 1960.', 'en'), ('The tax was introduced.', 'The tax was abolished.', 'en'),
    ('Version 3.1 was released in May.', 'Version 3.10 was released in May.', 'en'),
    ('It runs on Python 3.10.', 'It runs on Python 3.1.', 'en'), ('The plant makes 5 kWh.', 'The plant makes 5 kW.', 'en'),
    ('At most 5 days are needed.', '≥5 days are needed.', 'en'), ('The share was 15 percent.', 'The share was 12-15 %.', 'en'),
    ('Twelve birds were seen.', 'Dozens of birds were seen.', 'en'),
    ('The mill was built under Henry VII.', 'The mill was built under Henry VIII.', 'en'),
    ("The office's number is 030 1234568.", "The office's number is 030 1234567.", 'en'),
    ('It opened on 2021-03-04.', 'It opened on 3 April 2021.', 'en'), ('A quarter of voters came.', '1/3 of voters came.', 'en'),
    ('The dose is 10^-3 grams.', 'The dose is 10^-4 grams.', 'en'), ('It cost £2bn.', 'It cost £20 billion.', 'en'),
    ('More than half of the voters came.', '48% of the voters came.', 'en'),
    ('Hunderte Menschen kamen.', 'Zehn Menschen kamen.', 'de'),
    ('Seit 1994 ist die Brücke zu.', 'Die Brücke ist seit 1995 zu.', 'de'),
    ('The drug works in adults.', 'The drug hardly works in adults.', 'en'),
    ('The drug works in adults.', 'Scarcely does the drug work in adults.', 'en'),
    ('The treaty protects fishers.', 'The treaty fails to protect fishers.', 'en'),
    ('The town has a hospital.', 'The town has no hospital.', 'en'),
    ('The town has a hospital.', 'The town has had no hospital since 1990.', 'en'),
    ('The mine is open.', 'The mine is no longer open.', 'en'),
    ('Both bridges are safe.', 'Neither of the bridges is safe.', 'en'),
    ('The report names the firm.', 'Nowhere does the report name the firm.', 'en'),
    ('The virus spreads by air.', 'Under no circumstances does the virus spread by air.', 'en'),
    ('The council paid the firm.', 'The council refused to pay the firm.', 'en'),
    ('The court repealed the law.', 'The court declined to repeal the law.', 'en'),
    ('The vaccine is unsafe.', 'The vaccine is not unsafe.', 'en'),
    ('The vaccine is safe.', 'It cannot be said that the vaccine is safe.', 'en'),
    ('The factory pollutes the river.', 'It is a myth that the factory pollutes the river.', 'en'),
    ('The mayor resigned.', 'Reports that the mayor resigned are false.', 'en'),
    ('The ship sank.', 'The ship nearly sank.', 'en'), ('The bill passed.', 'The bill narrowly failed to pass.', 'en'),
    ('The bill passed.', 'The bill would have passed without the veto.', 'en'),
    ('The comet hit the moon.', 'Had the comet hit the moon, dust would have risen.', 'en'),
    ('The dam was inspected.', 'The dam remains uninspected.', 'en'),
    ('The tunnel is finished.', 'The tunnel is still unfinished.', 'en'),
    ('Officials found fraud.', 'Officials found no sign of fraud.', 'en'),
    ('The firm complied with the rules.', 'The firm neglected to comply with the rules.', 'en'),
    ('The plan was approved.', 'The plan was rejected.', 'en'), ('Few doubt the result.', 'Many doubt the result.', 'en'),
    ('The pill prevents colds.', 'The pill does nothing to prevent colds.', 'en'),
    ('The law bans fishing.', 'The law does not ban fishing.', 'en'),
    ('The park is free of charge.', 'The park is not free of charge.', 'en'),
    ('The vaccine is safe.', "I don't think the vaccine is safe.", 'en'),
    ('The pilot was drunk.', 'Nobody claims that the pilot was drunk.', 'en'),
    ('The ferry will return.', 'It is unlikely that the ferry will return.', 'en'),
    ('The mill is profitable.', 'The mill has stopped being profitable.', 'en'),
    ('Die Brücke ist sicher.', 'Die Brücke ist kaum sicher.', 'de'),
    ('Das Mittel hilft Kindern.', 'Das Mittel hilft Kindern mitnichten.', 'de'),
    ('Menschen wurden verletzt.', 'Niemand wurde verletzt.', 'de'),
    ('Das Dorf hat ein Krankenhaus.', 'Das Dorf hat kein Krankenhaus.', 'de'),
    ('Der Rat genehmigte den Bau.', 'Der Rat weigerte sich, den Bau zu genehmigen.', 'de'),
    ('Der Bau ist fertig.', 'Der Bau ist noch nicht fertig.', 'de'),
    ('Der Damm hält.', 'Der Damm hält längst nicht mehr.', 'de'),
    ('Der Plan wurde genehmigt.', 'Der Plan wurde abgelehnt.', 'de'),
    ('Es gab Hinweise auf Betrug.', 'Es gab keinerlei Hinweise auf Betrug.', 'de'),
    ('Le barrage est sûr.', "Le barrage n'est plus sûr.", 'fr'),
    ('Des témoins ont vu le feu.', "Aucun témoin n'a vu le feu.", 'fr'),
    ("Le maire a payé l'amende.", "Le maire a refusé de payer l'amende.", 'fr'),
    ('Le village a un hôpital.', "Le village n'a pas d'hôpital.", 'fr'),
    ('Le village a un hôpital.', "Le village est dépourvu d'hôpital.", 'fr'),
    ('Le vaccin protège les enfants.', 'Le vaccin ne protège nullement les enfants.', 'fr'),
    ('Le vaccin protège les enfants.', 'Le vaccin ne protège ni les enfants ni les adultes.', 'fr'),
    ('Il existe une preuve de fraude.', "Il n'existe aucune preuve de fraude.", 'fr'),
    ('Le pont est ouvert.', "Le pont n'est pas encore ouvert.", 'fr'),
    ('Le projet a été approuvé.', 'Le projet a été rejeté.', 'fr'), ('El puente es seguro.', 'El puente ya no es seguro.', 'es'),
    ('El puente es seguro.', 'El puente jamás fue seguro.', 'es'),
    ('El pueblo tiene hospital.', 'El pueblo carece de hospital.', 'es'),
    ('La vacuna protege a los niños.', 'La vacuna tampoco protege a los niños.', 'es'),
    ('El alcalde pagó la multa.', 'El alcalde se negó a pagar la multa.', 'es'),
    ('Los vecinos aprobaron el plan.', 'Ninguno de los vecinos aprobó el plan.', 'es'),
    ('Hay pruebas de fraude.', 'No hay pruebas de fraude.', 'es'),
    ('El puente está abierto.', 'El puente aún no está abierto.', 'es'),
    ('El plan fue aprobado.', 'El plan fue rechazado.', 'es'), ('该桥是安全的。', '该桥不再安全。', 'zh'),
    ('该药对儿童有效。', '没有证据表明该药对儿童有效。', 'zh'), ('该药对儿童有效。', '该药对儿童未必有效。', 'zh'), ('市政府批准了该计划。', '市政府尚未批准该计划。', 'zh'),
    ('市政府批准了该计划。', '市政府拒绝批准该计划。', 'zh'), ('所有居民都同意。', '并非所有居民都同意。', 'zh'), ('村里有医院。', '村里没有医院。', 'zh'),
    ('该药有副作用。', '该药毫无副作用。', 'zh'), ('法院认定他有罪。', '法院认定他无罪。', 'zh'), ('大坝于1987年建成。', '大坝于1978年建成。', 'zh'),
    ('الجسر آمن.', 'الجسر ليس آمنا.', 'ar'), ('الجسر آمن.', 'لم يعد الجسر آمنا.', 'ar'),
    ('الدواء يخفض الحمى.', 'الدواء لا يخفض الحمى.', 'ar'),
    ('الدواء يخفض الحمى.', 'لا يوجد دليل على أن الدواء يخفض الحمى.', 'ar'), ('الجسر آمن.', 'الجسر غير آمن.', 'ar'),
    ('وافق المجلس على الخطة.', 'لم يوافق المجلس على الخطة.', 'ar'),
    ('وافق المجلس على الخطة.', 'رفض المجلس الموافقة على الخطة.', 'ar'), ('Мост безопасен.', 'Мост небезопасен.', 'ru'),
    ('Мост безопасен.', 'Мост не безопасен.', 'ru'), ('Мост безопасен.', 'Мост больше не безопасен.', 'ru'),
    ('Препарат снижает жар.', 'Нет доказательств того, что препарат снижает жар.', 'ru'),
    ('Мост безопасен.', 'Мост далеко не безопасен.', 'ru'), ('В деревне есть больница.', 'В деревне нет больницы.', 'ru'),
    ('Совет одобрил план.', 'Совет так и не одобрил план.', 'ru'),
    ('Совет одобрил план.', 'Совет отказался одобрить план.', 'ru'),
    ('Жители одобрили план.', 'Никто из жителей не одобрил план.', 'ru'), ('橋は安全だ。', '橋は安全とは言えない。', 'ja'),
    ('薬は子供に効く。', '薬は子供に効かない。', 'ja'), ('薬は子供に効く。', '薬が子供に効くという証拠はない。', 'ja'), ('다리는 안전하다.', '다리는 안전하지 않다.', 'ko'),
    ('A ponte é segura.', 'A ponte deixou de ser segura.', 'pt'),
    ('Il ponte è sicuro.', "Il ponte è tutt'altro che sicuro.", 'it'),
    ('Most jest bezpieczny.', 'Most nie jest bezpieczny.', 'pl'), ('Köprü güvenli.', 'Köprü güvenli değil.', 'tr'),
    ('पुल सुरक्षित है।', 'पुल सुरक्षित नहीं है।', 'hi'), ('De brug is veilig.', 'De brug is allesbehalve veilig.', 'nl'),
    ('Bron är säker.', 'Bron är inte längre säker.', 'sv'), ('Міст безпечний.', 'Міст не є безпечним.', 'uk'),
    ('Cầu an toàn.', 'Cầu không an toàn.', 'vi'), ('สะพานปลอดภัย', 'สะพานไม่ปลอดภัย', 'th'),
    ('הגשר בטוח.', 'הגשר אינו בטוח.', 'he'), ('پل امن است.', 'پل امن نیست.', 'fa'),
    ('Η γέφυρα είναι ασφαλής.', 'Η γέφυρα δεν είναι ασφαλής.', 'el'), ('Most je bezpečný.', 'Most není bezpečný.', 'cs'),
    ('The film won an award.', 'The film won no award.', 'en'),
    ('The film won an award.', 'The film did not win a single award.', 'en'),
    ('The species is extinct.', 'The species is not yet extinct.', 'en'),
    ('The treaty was signed.', 'The treaty was never signed.', 'en'),
    ('Police arrested the man.', 'Police released the man.', 'en'),
    ('The port is accessible.', 'The port is inaccessible.', 'en'),
    ('The bill is constitutional.', 'The bill is unconstitutional.', 'en'),
    ('The trial was a success.', 'The trial was a failure.', 'en'),
    ('He is a member of the party.', 'He is no member of the party.', 'en'), ('She has children.', 'She is childless.', 'en'),
    ('The site has power.', 'The site is without power.', 'en'),
    ('The tax was raised.', 'The tax was not raised but lowered.', 'en'),
    ('The company admitted guilt.', 'The company denied guilt.', 'en'),
    ('Most voters agreed.', 'Less than half of voters agreed.', 'en'),
    ('Only children were hurt.', 'Children and adults were hurt.', 'en'),
    ('The drug is approved.', 'The drug is awaiting approval.', 'en'),
    ('The vote was unanimous.', 'The vote was not unanimous.', 'en'), ('Everyone survived.', 'Not everyone survived.', 'en'),
    ('Smoking is allowed.', 'Smoking is forbidden.', 'en'), ('Rauchen ist erlaubt.', 'Rauchen ist verboten.', 'de'),
    ('Alle überlebten.', 'Nicht alle überlebten.', 'de'),
    ('Der Film gewann einen Preis.', 'Der Film gewann keinen Preis.', 'de'),
    ('Die Anlage ist sicher.', 'Die Anlage ist unsicher.', 'de'), ('Der Vertrag gilt.', 'Der Vertrag gilt nicht mehr.', 'de'),
    ('Le film a gagné un prix.', "Le film n'a gagné aucun prix.", 'fr'),
    ('Il est interdit de fumer.', 'Il est permis de fumer.', 'fr'),
    ('La centrale est sûre.', "La centrale n'est guère sûre.", 'fr'), ('Tous ont survécu.', "Tous n'ont pas survécu.", 'fr'),
    ('Le traité est valide.', 'Le traité est invalide.', 'fr'),
    ('La película ganó un premio.', 'La película no ganó ningún premio.', 'es'),
    ('Está permitido fumar.', 'Está prohibido fumar.', 'es'), ('Todos sobrevivieron.', 'No todos sobrevivieron.', 'es'),
    ('El tratado es válido.', 'El tratado es inválido.', 'es'), ('电影获得了奖项。', '电影没有获得任何奖项。', 'zh'), ('允许吸烟。', '禁止吸烟。', 'zh'),
    ('所有人都幸存。', '不是所有人都幸存。', 'zh'), ('该条约有效。', '该条约无效。', 'zh'), ('他出席了会议。', '他缺席了会议。', 'zh'),
    ('Фильм получил премию.', 'Фильм не получил премии.', 'ru'), ('Курить разрешено.', 'Курить запрещено.', 'ru'),
    ('Все выжили.', 'Не все выжили.', 'ru'), ('Договор действителен.', 'Договор недействителен.', 'ru'),
    ('حصل الفيلم على جائزة.', 'لم يحصل الفيلم على جائزة.', 'ar'), ('التدخين مسموح.', 'التدخين ممنوع.', 'ar'),
    ('نجا الجميع.', 'لم ينج الجميع.', 'ar'), ('喫煙は許可されている。', '喫煙は禁止されている。', 'ja'), ('全員が生き残った。', '全員が生き残ったわけではない。', 'ja'),
]  # fmt: skip
CARRIED = [
    ('It runs on Python 3.10.', 'It runs on Python 3.10 and later.', 'en'),
    ('About 40 birds were seen.', '~40 birds were seen.', 'en'), ('At least 5 days are needed.', '≥5 days are needed.', 'en'),
    ('The share was between 12 and 15 percent.', 'The share was 12-15 %.', 'en'),
    ('One in five people smoke.', '20% of people smoke.', 'en'),
    ('Die Kosten betragen 2,5 Mio. Euro.', 'Die Kosten betragen 2.500.000 Euro.', 'de'),
    ('It opened on 2021-03-04.', 'It opened on 4 March 2021.', 'en'), ('A third of voters came.', '1/3 of voters came.', 'en'),
    ('The dose is 1.2e-5 grams.', 'The dose is 0.000012 grams.', 'en'), ('It cost £2bn.', 'It cost £2 billion.', 'en'),
    ('More than half of the voters came.', '52% of the voters came.', 'en'),
    ('The town has no hospital.', 'There is no hospital in the town.', 'en'),
    ('The bridge is unsafe.', 'The bridge is not safe.', 'en'), ('Der Damm ist nicht sicher.', 'Der Damm ist unsicher.', 'de'),
    ('Neither bridge is safe.', 'Neither of the two bridges is safe.', 'en'),
    ('El puente ya no es seguro.', 'El puente ya no es seguro desde 2019.', 'es'), ('该桥不安全。', '该桥并不安全。', 'zh'),
    ('Мост небезопасен.', 'Мост не безопасен.', 'ru'), ('الجسر غير آمن.', 'الجسر ليس آمنا.', 'ar'),
    ('Le vaccin ne protège pas les enfants.', 'Le vaccin ne protège nullement les enfants.', 'fr'),
    ('The drug did not work in adults.', 'The drug failed to work in adults.', 'en'),
    ('Die Fähre fährt nicht mehr.', 'Die Fähre fährt nicht mehr.', 'de'),
    ('Without the grant, the mill closed.', 'The mill closed without the grant.', 'en'),
    ('Совет не одобрил план.', 'Совет так и не одобрил план.', 'ru'),
    ('The film won no award.', 'The film did not win any award.', 'en'),
    ('Smoking is forbidden.', 'Smoking is not allowed.', 'en'),
    ('The treaty was not signed.', 'The treaty was never signed.', 'en'),
    ('Not everyone survived.', 'Not everyone survived the flood.', 'en'),
    ('Der Film gewann keinen Preis.', 'Der Film hat keinen Preis gewonnen.', 'de'),
    ("Le film n'a pas gagné de prix.", "Le film n'a gagné aucun prix.", 'fr'),
    ('La película no ganó premios.', 'La película no ganó ningún premio.', 'es'),
    ('Фильм не получил премии.', 'Фильм не получил никакой премии.', 'ru'), ('条约无效。', '该条约无效。', 'zh'),
    ('The dam is 91 m high.', 'The dam is 91 m high and not 90 m wide.', 'en'),
]  # fmt: skip
CUT = [
    ('Der Verein hat den Antrag', 'Der Verein hat den Antrag niemals gestellt.'), ('该药对儿童有效', '没有证据表明该药对儿童有效。'),
    ('likely to fail', 'It is unlikely to fail.'), ('000 tonnes of steel', 'It used 12 000 tonnes of steel.'),
    ('45 million crowns in all', 'It cost 345 million crowns in all.'), ('5 °C in spring', 'It was -5 °C in spring.'),
    ('5 °C in spring', 'It was 2–5 °C in spring.'), ('15 % of all voters', 'Some 12–15 % of all voters came.'),
    ('300 km long', 'It is 1,300 km long.'), ('closed on 3 May', 'The line was closed on 13 May.'),
    ('10 m tall in all', 'It is 1.10 m tall in all.'), ('guilty of fraud', 'He was found not guilty of fraud.'),
    ('guilty of the fraud', 'He is by no means guilty of the fraud.'), ('toxic to all fish', 'It is non-toxic to all fish.'),
    ('smoking rooms only', 'They are non-smoking rooms only.'), ('dependent on imports', 'It is independent on imports.'),
    ('operate the old mill', "They can't operate the old mill."), ('operate the old mill', 'They can’t operate the old mill.'),
    ('paid the workers on time', 'They built it without having paid the workers on time.'),
    ('complete the new tunnel', 'They failed to complete the new tunnel.'),
    ('a risk for the children', 'It poses little or no risk for the children.'),
    ('risk for the children', 'It poses no risk for the children.'),
    ('safe to drink or to cook with', 'The water is not safe to drink or to cook with.'),
    ('rose in the winter', 'Prices hardly rose in the winter.'), ('12 million people', 'Some 1.12 million people came.'),
    ('2.5 million people', 'Some 12.5 million people came.'), ('5/8 of all voters', 'Some 15/8 of all voters.'),
    ('3 × 10⁵ people in all', 'It is 1.3 × 10⁵ people in all.'), ('10 litres of water', 'It is 10⁶ litres of water.'),
    ('million people came', 'Some 5 million people came.'), ('percent of voters came', '12 percent of voters came.'),
    ('was 5 and it fell', 'It was 5.5 and it fell.'), ('costs 5', 'It costs 5,000 crowns.'),
    ('It costs 5', 'It costs 5 million crowns.'), ('It costs 5', 'It costs 5% more.'),
    ('bedeutend für den Hafen', 'Der Ort ist unbedeutend für den Hafen.'),
    ('sicher im kalten Winter', 'Die Brücke ist nicht sicher im kalten Winter.'),
    ('Hinweise auf den Betrug', 'Es fanden sich keinerlei Hinweise auf den Betrug.'),
    ('5 Millionen Euro', 'Es kostete 2,5 Millionen Euro.'), ('Die Stadt zahlt den Umbau', 'Die Stadt zahlt den Umbau nicht.'),
    ('Der Rat hat den Plan', 'Der Rat hat den Plan nicht genehmigt.'),
    ('wirksam bei den Kindern', 'Es ist kaum wirksam bei den Kindern.'),
    ('bahnhof der alten Stadt', 'Der Hauptbahnhof der alten Stadt ist zu.'),
    ('possible de passer ici', 'Il est impossible de passer ici.'),
    ('de danger pour les enfants', "Il n'y a plus de danger pour les enfants."),
    ('coupable de la fraude', "Il n'a jamais été coupable de la fraude."),
    ('preuve de la fraude', 'Sans aucune preuve de la fraude, il fut libéré.'),
    ('pruebas de la fraude', 'No hay pruebas de la fraude.'), ('seguro para los niños', 'Es inseguro para los niños.'),
    ('pruebas de la fraude', 'No se hallaron pruebas de la fraude.'), ('безопасен для детей', 'Препарат небезопасен для детей.'),
    ('безопасен для детей', 'Препарат не безопасен для детей.'),
    ('действует на детей', 'Препарат никогда не действует на детей.'),
    ('доказательств обмана', 'Нет никаких доказательств обмана.'), ('安全的桥梁', '这是不安全的桥梁。'), ('批准该计划', '市政府没有批准该计划。'),
    ('有效治疗感冒', '该药不能有效治疗感冒。'), ('二十人死亡', '共有三百二十人死亡。'), ('万人参加了活动', '共有三十万人参加了活动。'), ('获得批准', '该计划未获得批准。'), ('有证据', '没有证据。'),
    ('この橋は安全', 'この橋は安全ではない。'), ('百人が死亡した', '三百人が死亡した。'), ('薬は子供に効く', '薬は子供に効くわけではない。'), ('効果があった', '効果があったとは言えない。'),
    ('آمن للأطفال', 'الدواء غير آمن للأطفال.'), ('يخفض الحمى عند الأطفال', 'الدواء لا يخفض الحمى عند الأطفال.'),
    ('12 يوما من المطر', 'كان هناك 112 يوما من المطر.'), ('الجسر آمنا', 'لم يعد الجسر آمنا.'),
    ('مدينة قديمة', 'المدينة قديمة جدا.'), ('בטוח לילדים', 'הגשר אינו בטוח לילדים.'), ('이 다리는 안전하지', '이 다리는 안전하지 않다.'),
    ('안전하다고 할', '이 다리는 안전하다고 할 수 없다.'), ('ปลอดภัยสำหรับเด็ก', 'ยานี้ไม่ปลอดภัยสำหรับเด็ก'),
    ('सुरक्षित है', 'पुल सुरक्षित नहीं है।'), ('It cost 3 million', 'It cost 3.5 million crowns.'),
    ('x2 is the share of all', 'x² is the share of all.'),
    ('mortem examination was done', 'A post-mortem examination was done.'),
    ('year-old boy was hurt', 'A 12-year-old boy was hurt.'), ('old boy was hurt badly', 'A 12-year-old boy was hurt badly.'),
    ('effective against the flu', 'The drug proved ineffective against the flu.'),
    ('in favour of the plan', 'Nobody spoke in favour of the plan.'),
    ('able to pay the fine', 'He was not able to pay the fine.'),
    ('less than 5 days of rain', 'There were no less than 5 days of rain.'),
    ('enough money for the road', 'There was not enough money for the road.'),
    ('5 million for the road', 'It cost €5 million for the road.'), ('hour in the bend', 'It ran at 90 km/hour in the bend.'),
    ('20 Prozent der Wähler', 'Nur 1,20 Prozent der Wähler.'),
    ('Millionen Euro für den Bau', 'Es gab 5 Millionen Euro für den Bau.'), ('五十人受伤', '共有一百五十人受伤。'), ('通过审查', '该计划不予通过审查。'),
    ('可以使用', '该桥不可以使用。'), ('合法使用', '属于非法使用。'), ('合法使用', '属于不合法使用。'), ('参加会议', '他从未参加会议。'), ('使用できる', '使用できるとは限らない。'),
    ('사용할 수', '이 다리는 사용할 수 없다.'), ('آمنة للسيارات', 'الطريق ليست آمنة للسيارات.'),
    ('وصل القطار إلى المدينة', 'فوصل القطار إلى المدينة.'), ('закрыт для всех', 'Мост не закрыт для всех.'),
    ('danger pour la ville', "Il n'y a aucun danger pour la ville."),
    ('peligro para la ciudad', 'No hay ningún peligro para la ciudad.'), ('A & B were fined', 'A &amp; B were fined.'),
]  # fmt: skip
WHOLE = [
    ("3 gates were closed", "It closed in 1994\n- 3 gates were closed."), ("5 doors were open in all", "1. 5 doors were open in all."),
    ('10 litres of water', 'It holds 10 litres of water.'), ('1990 the mill closed', 'In 1990 the mill closed.'),
    ('école du village', "L'école du village est fermée."), ("L'école du village", 'L’école du village est fermée.'),
    ('三十万人', '共有三十万人参加了活动。'), ('大学附近工作', '他在北京大学附近工作。'), ('السد يحمي المدينة', 'والسد يحمي المدينة من الفيضانات.'),
    ('הגשר בטוח לרכב', 'והגשר בטוח לרכב.'), ('The harbour office closed early', 'The har\xadbour office closed early.'),
    ('The harbour office closed early', 'The har-\nbour office closed early.'),
    ('The office of finance is new', 'The oﬃce of ﬁnance is new.'), ('ABC株式会社は設立された', 'ＡＢＣ株式会社は設立された。'),
    ('الجسر مغلق اليوم', 'الجســر مغلق اليوم.'), ('הגשר נסגר בחרף', 'הַגֶּשֶׁר נִסְגַּר בַּחֹרֶף.'),
    ('Самолет приземлился вчера', 'Самолёт приземлился вчера.'), ('Zürich ist eine Stadt', 'Zürich ist eine Stadt.'),
    ('the dam holds in winter', 'the d\u200bam holds in winter.'),
    ('It cost 49 million crowns in all', 'It cost 49\u202fmillion crowns in all.'),
    ('The limit is 5 °C at night', 'The limit is 5°C at night.'), ('a range of 12–15 % was seen', 'a range of 12-15% was seen.'),
    ('it rose by 5 % – or more', 'it rose by 5% — or more.'), ('It rose... and fell', 'It rose… and fell.'),
    ('naïve café owners came', 'naïve café owners came.'), ('The rate was ≥ 5 per year', 'The rate was ≥5 per year.'),
    ('Der Bau kostete 2,5 Mio. Euro', 'Der Bau kostete 2.500.000 Euro.'),
    ('The dam was built in 1987 by the harbour office', 'The dam was built in 1987\n\n12 Annual report\n\nby the harbour office.'),
    ('as shown before, the dam holds', 'as shown before,⁴ the dam holds.'),
    ('he said it was safe. Then he left', 'he said it was safe.[12] Then he left.'),
    ('he said it was safe. Then he left', 'he said it was safe.¹² Then he left.'),
    ('It cost 3½ million crowns', 'It cost 3.5 million crowns.'), ('1/2 of the town was lost', '½ of the town was lost.'),
    ('CO2 levels rose by 5 ppm', 'CO₂ levels rose by 5 ppm.'), ('5 x 10^6 cells were seen', '5 × 10⁶ cells were seen.'),
    ('2020 to 2024 the mill', 'From 2020 to 2024 the mill stood.'), ('10 people were hurt', 'Up to 10 people were hurt.'),
    ('km per hour in the bend', 'It ran at 90 km per hour in the bend.'),
    ('tausend Menschen kamen', 'Mehrere tausend Menschen kamen.'), ('参加会议', '他昨天参加会议。'), ('安全です', 'この橋は安全ですか。'),
    ('다리는 안전하다', '그 다리는 안전하다.'), ('القطار إلى المدينة', 'وصل القطار إلى المدينة.'), ('закрыт для всех', 'Мост закрыт для всех.'),
    ('The minister said it was over', 'The mini\xadster said it was over.'), ('It was “over” at last', 'It was "over" at last.'),
    ("rock 'n' roll was born", 'rock ’n’ roll was born.'), ('the co-operative bank failed', 'the co‑operative bank failed.'),
    ('the résumé of the case', 'the résumé of the case.'), ('and so on and so forth', 'and so on\n\nand so forth.'),
    ('the total of the costs', 'the total\xa0of the costs.'),
]  # fmt: skip
PEOPLE = [
    ('van der Berg, Jan', 'van der Berg, Jan'), ('Jan van der Berg', 'van der Berg, Jan'),
    ('World Health Organization', 'World Health Organization'), ('Smith J, Doe A, et al.', 'Smith, J; Doe, A'),
    ('Smith, J. et al.', 'Smith, J.'), ('王小明', '王小明'), ('王小明、李华', '王小明; 李华'), ('王小明，李华', '王小明; 李华'), ('王小明; 李华', '王小明; 李华'),
    ('Martínez García, Ana; López, José', 'Martínez García, Ana; López, José'),
    ('Müller, H.-J., Schmidt, K.', 'Müller, H.-J.; Schmidt, K.'), ('Dr. Jane Doe, PhD', 'Doe, Jane'),
    ('By Jane Doe and John Roe', 'Doe, Jane; Roe, John'), ('Jane Doe (https://orcid.org/0000-0002-1825-0097)', 'Doe, Jane'),
    ('Jane Doe https://orcid.org/0000-0002-1825-0097', 'Doe, Jane'), ('jane.doe@example.org (Jane Doe)', 'Doe, Jane'),
    ('Jane Doe <jane@example.org>', 'Doe, Jane'), ('Jane Doe (0000-0002-1825-009X)', 'Doe, Jane'),
    ("O'Brien, Conan and D'Angelo, Maria", "O'Brien, Conan; D'Angelo, Maria"), ('Ludwig van Beethoven', 'van Beethoven, Ludwig'),
    ('Statistisches Bundesamt', 'Statistisches Bundesamt'),
    ('Institut national de la statistique et des études économiques', 'Institut national de la statistique et des études économiques'),
    ('European Space Agency (ESA)', 'European Space Agency (ESA)'), ('NASA', 'NASA'),
    ('Doe, Jane, Roe, Richard, and Poe, Edgar A.', 'Doe, Jane; Roe, Richard; Poe, Edgar A.'),
    ('Jane Doe · Richard Roe', 'Doe, Jane; Roe, Richard'), ('Jane Doe | Richard Roe', 'Doe, Jane; Roe, Richard'),
    ('Jane Doe / Richard Roe', 'Doe, Jane; Roe, Richard'), ('Jane Doe, M.D., and Richard Roe, Ph.D.', 'Doe, Jane; Roe, Richard'),
    ('Иванов И. И., Петров П. П.', 'Иванов, И. И.; Петров, П. П.'), ('김철수, 이영희', '김철수; 이영희'),
    ('Sir Tim Berners-Lee', 'Berners-Lee, Tim'), ('de la Cruz, María', 'de la Cruz, María'),
    ('María de la Cruz', 'de la Cruz, María'), ('Martin Luther King Jr.', 'Martin Luther King Jr.'),
    ('Jane Doe, Richard Roe et al.', 'Doe, Jane; Roe, Richard'),
    ('Jane Doe, Richard Roe, and others', 'Doe, Jane; Roe, Richard'), ('Doe J., Roe R.', 'Doe, J.; Roe, R.'),
    ('J. Doe, R. Roe', 'Doe, J.; Roe, R.'), ('J. R. R. Tolkien', 'Tolkien, J. R. R.'),
    ('Doe, J.A. & Roe, R.B.', 'Doe, J.A.; Roe, R.B.'), ('Text: Jane Doe', 'Doe, Jane'), ('Von Jane Doe', 'Doe, Jane'),
    ('Par Jane Doe', 'Doe, Jane'), ('Por Jane Doe y Richard Roe', 'Doe, Jane; Roe, Richard'),
    ('Mohammed bin Salman', 'bin Salman, Mohammed'), ('Jane Doe;Richard Roe;', 'Doe, Jane; Roe, Richard'),
    ('Department of Health and Social Care', 'Department of Health and Social Care'),
    ('Universidad de Chile', 'Universidad de Chile'), ('The Dam Consortium', 'The Dam Consortium'),
    ('Harbour Office of Orvelle', 'Harbour Office of Orvelle'), ('Doe, J. (2020)', 'Doe, J.'),
    ('J. Doe; R. Roe; and P. Poe', 'Doe, J.; Roe, R.; Poe, P.'), ('Ana de Armas y Juan Pérez', 'de Armas, Ana; Pérez, Juan'),
    ('Núñez de Balboa, Vasco', 'Núñez de Balboa, Vasco'), ('Jean-Luc Picard', 'Picard, Jean-Luc'), ('LI Wei', 'Wei, LI'),
    ('Doe, Jane; et al.', 'Doe, Jane'), ('Prof. Dr. Hans Meier', 'Meier, Hans'), ('Jane Q. Public', 'Public, Jane Q.'),
    ('BBC News', 'BBC News'), ('Associated Press', 'Associated Press'), ('U.S. Geological Survey', 'U.S. Geological Survey'),
    ('OpenAI', 'OpenAI'), ('Sato, Hiroshi and Tanaka, Yuki', 'Sato, Hiroshi; Tanaka, Yuki'), ('Doe J, Roe R', 'Doe, J; Roe, R'),
    ('Мария Иванова', 'Иванова, Мария'), ('Redaktion Tagblatt', 'Redaktion Tagblatt'), ('Jane Doe @janedoe', 'Doe, Jane'),
]  # fmt: skip
FOLLOWING = """mc_cid=1&mc_eid=2 gclid=1 msclkid=1 yclid=1 ttclid=1 twclid=1 li_fat_id=1 igshid=1 igsh=1 _hsenc=1&_hsmi=2 mkt_tok=1 vero_id=1 wickedid=1 oly_enc_id=1 pk_campaign=1 mtm_campaign=1 at_medium=1&at_campaign=2 xtor=RSS-1 cmpid=1 s_cid=1 dclid=1 gbraid=1 wbraid=1 srsltid=1 spm=a.b.c smid=nytcore-ios-share guccounter=1&guce_referrer=aHR0&guce_referrer_sig=AQ fb_action_ids=1&fb_ref=2 ns_source=a&ns_mchannel=b trk=public_post ref_src=twsrc%5Etfw __twitter_impression=true epik=1 sc_campaign=1 _branch_match_id=1 _openstat=1 partner=rss&emc=rss utm_id=1&UTM_Source=x amp=1 outputType=amp hsCtaTracking=1 ml_subscriber=1 sfmc_id=1 ck_subscriber_id=1 utm_source=chatgpt.com fbclid=IwAR0 gclid=Cj0&utm_medium=cpc ref=hn _ga=2.1 mibextid=1 utm_id=3 igsh=1"""
"""What ten kinds of services add to an address to follow its reader."""
ONE_WORK = [
    ('https://www.example.com/a', 'https://www.google.com/amp/s/www.example.com/a'),
    ('https://www.example.com/a', 'https://www-example-com.cdn.ampproject.org/c/s/www.example.com/a'),
    ('https://www.example.com/a', 'https://www.google.com/url?q=https://www.example.com/a&sa=D&usg=x'),
    ('https://www.example.com/a', 'https://duckduckgo.com/l/?uddg=https%3A%2F%2Fwww.example.com%2Fa&rut=1'),
    ('https://youtu.be/abcDEF12345?si=xyz', 'https://www.youtube.com/watch?v=abcDEF12345'),
    ('https://m.youtube.com/watch?v=abcDEF12345&feature=share', 'https://www.youtube.com/watch?v=abcDEF12345'),
    ('https://arxiv.org/abs/hep-th/9901001v2', 'https://arxiv.org/pdf/hep-th/9901001'),
    ('https://doi.org/10.48550/arXiv.hep-th/9901001', 'https://arxiv.org/abs/hep-th/9901001'),
    ('https://arxiv.org/abs/math.GT/0309136', 'https://arxiv.org/abs/math/0309136'),
    ('https://www.arxiv.org/abs/2401.00001?context=cs.CL', 'https://arxiv.org/abs/2401.00001'),
    ('https://arxiv.org/pdf/2401.00001.pdf', 'https://www.alphaxiv.org/abs/2401.00001'),
    ('https://doi.org/10.1016/S0140-6736(20)30183-5', 'https://dx.doi.org/10.1016/s0140-6736(20)30183-5'),
    ('https://doi.org/10.1000/xyz.12.', 'https://doi.org/10.1000/xyz.12'),
    ('https://doi.org/10.1016%2Fj.x.2020.1', 'https://doi.org/10.1016/j.x.2020.1'),
    ('https://doi.org/10.1145/123.456', 'https://dl.acm.org/doi/10.1145/123.456'),
    ('https://doi.acm.org/10.1145/123.456', 'https://dl.acm.org/doi/pdf/10.1145/123.456'),
    ('https://link.springer.com/chapter/10.1007/978-3-1_5', 'https://doi.org/10.1007/978-3-1_5'),
    ('https://www.tandfonline.com/doi/abs/10.1080/1.2', 'https://doi.org/10.1080/1.2'),
    ('https://journals.sagepub.com/doi/pdf/10.1177/1', 'https://doi.org/10.1177/1'),
    ('https://www.science.org/doi/epdf/10.1126/science.1', 'https://doi.org/10.1126/science.1'),
    ('https://www.frontiersin.org/articles/10.3389/fx.2020.1/full', 'https://doi.org/10.3389/fx.2020.1'),
    ('https://www.medrxiv.org/content/10.1101/2020.01.01.1v1', 'https://doi.org/10.1101/2020.01.01.1'),
    ('https://europepmc.org/article/MED/123', 'https://pubmed.ncbi.nlm.nih.gov/123/'),
    ('https://europepmc.org/article/PMC/PMC123', 'https://pmc.ncbi.nlm.nih.gov/articles/PMC123/'),
    ('https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/pdf/main.pdf', 'https://pmc.ncbi.nlm.nih.gov/articles/PMC123/'),
    ('https://doi.org/10.1371/journal.pone.1', 'https://journals.plos.org/plosone/article/file?id=10.1371/journal.pone.1&type=printable'),
    ('https://zenodo.org/records/123', 'https://doi.org/10.5281/zenodo.123'),
    ('https://en.wikipedia.org/w/index.php?title=A', 'https://en.wikipedia.org/wiki/A'),
    ('https://en.wikipedia.org/wiki/A#History', 'https://en.wikipedia.org/wiki/A'),
    ('https://x.example/a#:~:text=foo', 'https://x.example/a'),
    ('https://zh.wikipedia.org/zh-cn/A', 'https://zh.wikipedia.org/wiki/A'), ('https://x.example/a/', 'https://x.example/a'),
    ('https://x.com/u/status/1?s=20', 'https://twitter.com/u/status/1'),
    ('https://www.reddit.com/r/a/comments/1/b/', 'https://old.reddit.com/r/a/comments/1/b'),
    ('https://x.example/a?amp', 'https://x.example/a'), ('https://x.example/a#top', 'https://x.example/a'),
    ('https://de.wikipedia.org/wiki/M%C3%BCnchen', 'https://de.wikipedia.org/wiki/München'),
    ('https://doi.org/10.1000/ABC', 'https://doi.org/10.1000/abc'),
    ('https://www.sciencedirect.com/science/article/pii/S0140673620301835', 'https://www.sciencedirect.com/science/article/abs/pii/S0140673620301835'),
    ('https://www.jstor.org/stable/123?seq=1', 'https://www.jstor.org/stable/123'),
    ('https://papers.ssrn.com/sol3/papers.cfm?abstract_id=123', 'https://ssrn.com/abstract=123'),
    ('https://www.researchgate.net/publication/123_A_title', 'https://www.researchgate.net/publication/123'),
    ('https://www.nature.com/articles/s41586-020-1.pdf', 'https://doi.org/10.1038/s41586-020-1'),
    ('https://arxiv.org/abs/2401.00001v3', 'https://arxiv.org/pdf/2401.00001v1'),
    ('https://onlinelibrary.wiley.com/doi/epdf/10.1111/a.1', 'https://doi.org/10.1111/a.1'),
    ('https://www.biorxiv.org/content/10.1101/2020.01.01.1v1.full', 'https://doi.org/10.1101/2020.01.01.1'),
]  # fmt: skip
TWO_WORKS = [
    ('https://x.example/a?page=2', 'https://x.example/a'), ('https://x.example/a?lang=de', 'https://x.example/a?lang=en'),
    ('https://x.example/A', 'https://x.example/a'), ('https://doi.org/10.1000/a.1', 'https://doi.org/10.1000/a.10'),
    ('https://arxiv.org/abs/hep-th/9901001', 'https://arxiv.org/abs/hep-ph/9901001'),
    ('https://en.wikipedia.org/w/index.php?title=A&oldid=5', 'https://en.wikipedia.org/wiki/A'),
    ('https://x.example/a?id=10.5', 'https://x.example/a?id=10.6'),
    ('https://www.youtube.com/watch?v=abcDEF12345', 'https://www.youtube.com/watch?v=abcDEF12346'),
    ('https://x.example/a?partner=5', 'https://x.example/a?partner=6'),
    ('https://x.example/a?campaign=5', 'https://x.example/a?campaign=6'),
    ('https://web.archive.org/web/2020/https://x.example/a', 'https://x.example/a'),
    ('https://www.google.com/url?q=https://x.example/a', 'https://www.google.com/url?q=https://x.example/b'),
    ('https://arxiv.org/abs/2401.00001', 'https://arxiv.org/abs/2401.00002'),
    ('https://x.example/?p=1', 'https://x.example/?p=2'), ('https://zenodo.org/records/123', 'https://zenodo.org/records/124'),
    ('https://x.example/a?amp_id=5', 'https://x.example/a?amp_id=6'),
]  # fmt: skip
IN_PROSE = [
    ('(https://doi.org/10.1016/S0140-6736(20)30183-5).', 'https://doi.org/10.1016/S0140-6736(20)30183-5'),
    ('(https://doi.org/10.1000/xyz)', 'https://doi.org/10.1000/xyz'), ('<https://a.example/x>', 'https://a.example/x'),
    ('https://a.example/x…', 'https://a.example/x'), ('‘https://a.example/x’', 'https://a.example/x'),
    ("'https://a.example/x'", 'https://a.example/x'), ('[https://a.example/x]', 'https://a.example/x'),
    ('网址：https://a.example/x：说明', 'https://a.example/x'), ('https://a.example/x、次', 'https://a.example/x'),
    ('https://a.example/x، ثم', 'https://a.example/x'), ('https://a.example/x—then', 'https://a.example/x'),
    ('https://a.example/x에서 보라', 'https://a.example/x'), ('https://a.example/xを参照', 'https://a.example/x'),
    ('«https://a.example/x».', 'https://a.example/x'), ('`https://a.example/x`', 'https://a.example/x'),
    ('https://a.example/x?a=1&b=2!', 'https://a.example/x?a=1&b=2'), ('“https://a.example/x.”', 'https://a.example/x'),
    ('https://a.example/x։ Հետո', 'https://a.example/x'), ('https://a.example/x።', 'https://a.example/x'),
    ('https://ru.example/wiki/Мост)', 'https://ru.example/wiki/Мост'),
    ('https://a.example/a_(b)_(c)).', 'https://a.example/a_(b)_(c)'), ('|https://a.example/x|', 'https://a.example/x'),
    ('https://a.example/x\u200b then', 'https://a.example/x'), ('https://a.example/x~y/*', 'https://a.example/x~y/'),
    ('HTTPS://A.example/x;', 'HTTPS://A.example/x'), ('https://a.example/x%E2%80%93y.', 'https://a.example/x%E2%80%93y'),
    ('https://a.example/x\u202c\u200e z', 'https://a.example/x'), ('https://a.example:8080/x,', 'https://a.example:8080/x'),
]  # fmt: skip


def same(one, other, mine="en", theirs="en"):
    first, second = figures(one, mine, False), figures(other, theirs, False)
    return bool(first) and len(first) == len(second) and all(
        a.equals(b) and bool(a.unit) == bool(b.unit) for a, b in zip(first, second, strict=True)
    )  # fmt: skip


@pytest.mark.parametrize("pair", SAME)
def test_one_figure_in_another_writing_is_the_same(pair):
    assert same(*pair)


@pytest.mark.parametrize("pair", OTHER)
def test_figures_that_look_alike_stay_two(pair):
    assert not same(*pair)


@pytest.mark.parametrize(("text", "language"), NO_AMOUNT)
def test_names_of_kings_codes_and_dates_are_no_amounts(text, language):
    assert not [one for one in figures(text, language) if one.kind == "amount" and not one.weak]


@pytest.mark.parametrize(("sentence", "quote", "language"), NOT_CARRIED)
def test_what_a_source_denies_or_counts_otherwise_is_not_carried(sentence, quote, language):
    assert carried(sentence, [quote], language=language).verdict != "supported"
    assert stance(sentence, quote, language=language).stance != "supports"


@pytest.mark.parametrize(("sentence", "quote", "language"), CARRIED)
def test_the_same_in_other_words_is_carried(sentence, quote, language):
    assert carried(sentence, [quote], language=language).verdict in {"supported", "partly"}


@pytest.mark.parametrize(("quote", "source"), CUT)
def test_no_quote_is_cut_from_a_figure_a_word_or_a_denial(quote, source):
    assert find_quote(quote, source) is None


@pytest.mark.parametrize(("quote", "source"), WHOLE)
def test_a_quote_may_differ_in_what_only_the_printer_did(quote, source):
    assert find_quote(quote, source)


@pytest.mark.parametrize(("written", "people"), PEOPLE)
def test_people_are_told_from_what_stands_beside_their_names(written, people):
    assert "; ".join(one.name for one in authors(written)) == people


@pytest.mark.parametrize("added", FOLLOWING.split())
def test_what_follows_a_reader_is_no_part_of_an_address(added):
    assert canonical(f"https://x.example/a?{added}") == "https://x.example/a"


@pytest.mark.parametrize(("one", "other"), ONE_WORK)
def test_a_work_has_one_key_whatever_service_names_it(one, other):
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(("one", "other"), TWO_WORKS)
def test_works_that_differ_in_a_number_are_two(one, other):
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize(("text", "address"), IN_PROSE)
def test_an_address_ends_where_prose_goes_on(text, address):
    assert IN_TEXT.findall(text) == [address]
