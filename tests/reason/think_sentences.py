"""Sentences about pictures in many languages, and short English ones; for the filter of languages."""

from __future__ import annotations

OTHERS: dict[str, tuple[str, ...]] = {
    "de": (
        "Ein brauner Hund läuft am Strand entlang, während zwei Menschen im Hintergrund spazieren gehen.",
        "Auf dem Tisch steht eine rote Tasse neben einem aufgeschlagenen Buch und einer Brille.",
        "Links im Bild sieht man ein altes Haus mit grünen Fensterläden und einem kleinen Garten.",
        "Der Himmel ist bewölkt und die Straße ist nass, also hat es wohl vor Kurzem geregnet.",
    ),
    "fr": (
        "Un chien brun court le long de la plage pendant que deux personnes marchent derrière lui.",
        "Sur la table se trouve une tasse rouge à côté d'un livre ouvert et d'une paire de lunettes.",
        "À gauche de l'image, on voit une vieille maison avec des volets verts et un petit jardin.",
        "Le ciel est couvert et la rue est mouillée, il a donc sans doute plu récemment.",
    ),
    "es": (
        "Un perro marrón corre por la playa mientras dos personas caminan detrás de él.",
        "Sobre la mesa hay una taza roja junto a un libro abierto y unas gafas.",
        "A la izquierda de la imagen se ve una casa antigua con contraventanas verdes y un pequeño jardín.",
        "No hay coches en la calle y el cielo está cubierto de nubes grises.",
    ),
    "it": (
        "Un cane marrone corre lungo la spiaggia mentre due persone camminano dietro di lui.",
        "Sul tavolo c'è una tazza rossa accanto a un libro aperto e a un paio di occhiali.",
        "A sinistra nell'immagine si vede una vecchia casa con persiane verdi e un piccolo giardino.",
        "Il cielo è nuvoloso e la strada è bagnata, quindi probabilmente ha piovuto da poco.",
    ),
    "pt": (
        "Um cachorro marrom corre pela praia enquanto duas pessoas caminham atrás dele.",
        "Sobre a mesa há uma caneca vermelha ao lado de um livro aberto e de um par de óculos.",
        "À esquerda da imagem vê-se uma casa antiga com janelas verdes e um pequeno jardim.",
        "O céu está nublado e a rua está molhada, portanto deve ter chovido há pouco tempo.",
    ),
    "nl": (
        "Een bruine hond rent over het strand terwijl twee mensen achter hem lopen.",
        "Op de tafel staat een rode mok naast een open boek en een bril.",
        "Links op de foto zie je een oud huis met groene luiken en een kleine tuin.",
        "De lucht is bewolkt en de straat is nat, dus het heeft kort geleden geregend.",
    ),
    "sv": (
        "En brun hund springer längs stranden medan två personer går bakom den.",
        "På bordet står en röd mugg bredvid en öppen bok och ett par glasögon.",
        "Till vänster i bilden ser man ett gammalt hus med gröna fönsterluckor och en liten trädgård.",
        "Himlen är molnig och gatan är våt, så det har nog regnat nyligen.",
    ),
    "da": (
        "En brun hund løber langs stranden, mens to personer går bag den.",
        "På bordet står et rødt krus ved siden af en åben bog og et par briller.",
        "Til venstre i billedet ser man et gammelt hus med grønne skodder og en lille have.",
        "Himlen er overskyet, og gaden er våd, så det har nok regnet for nylig.",
    ),
    "fi": (
        "Ruskea koira juoksee pitkin rantaa, kun kaksi ihmistä kävelee sen takana.",
        "Pöydällä on punainen muki avoimen kirjan ja silmälasien vieressä.",
        "Kuvan vasemmassa reunassa näkyy vanha talo, jossa on vihreät ikkunaluukut ja pieni puutarha.",
        "Taivas on pilvinen ja katu on märkä, joten hiljattain on varmaankin satanut.",
    ),
    "tr": (
        "Kahverengi bir köpek sahil boyunca koşuyor ve iki kişi onun arkasında yürüyor.",
        "Masanın üzerinde açık bir kitabın ve bir gözlüğün yanında kırmızı bir kupa duruyor.",
        "Resmin solunda yeşil kepenkli eski bir ev ve küçük bir bahçe görülüyor.",
        "Gökyüzü bulutlu ve sokak ıslak, bu yüzden yakın zamanda yağmur yağmış olmalı.",
    ),
    "vi": (
        "Một con chó màu nâu chạy dọc theo bãi biển trong khi hai người đi bộ phía sau nó.",
        "Trên bàn có một chiếc cốc màu đỏ bên cạnh một cuốn sách đang mở và một cặp kính.",
        "Ở bên trái bức ảnh là một ngôi nhà cũ với cửa chớp màu xanh và một khu vườn nhỏ.",
        "Bầu trời nhiều mây và đường phố ẩm ướt, vì vậy có lẽ trời vừa mới mưa.",
    ),
    "pl": (
        "Brązowy pies biegnie wzdłuż plaży, a za nim idą dwie osoby.",
        "Na stole stoi czerwony kubek obok otwartej książki i okularów.",
        "Po lewej stronie zdjęcia widać stary dom z zielonymi okiennicami i małym ogrodem.",
        "Niebo jest zachmurzone, a ulica jest mokra, więc niedawno musiało padać.",
    ),
    "cs": (
        "Hnědý pes běží po pláži, zatímco za ním jdou dva lidé.",
        "Na stole stojí červený hrnek vedle otevřené knihy a brýlí.",
        "Vlevo na obrázku je vidět starý dům se zelenými okenicemi a malou zahradou.",
        "Obloha je zatažená a ulice je mokrá, takže asi nedávno pršelo.",
    ),
    "ro": (
        "Un câine maro aleargă de-a lungul plajei în timp ce doi oameni merg în spatele lui.",
        "Pe masă se află o cană roșie lângă o carte deschisă și o pereche de ochelari.",
        "În stânga imaginii se vede o casă veche cu obloane verzi și o grădină mică.",
        "Cerul este înnorat și strada este udă, deci probabil că a plouat de curând.",
    ),
    "hu": (
        "Egy barna kutya szalad a parton, miközben két ember sétál mögötte.",
        "Az asztalon egy piros bögre áll egy nyitott könyv és egy szemüveg mellett.",
        "A kép bal oldalán egy régi ház látható zöld zsalugáterekkel és egy kis kerttel.",
        "Az ég felhős és az utca nedves, tehát nemrég eshetett az eső.",
    ),
    "id": (
        "Seekor anjing cokelat berlari di sepanjang pantai sementara dua orang berjalan di belakangnya.",
        "Di atas meja ada cangkir merah di samping sebuah buku yang terbuka dan kacamata.",
        "Di sebelah kiri gambar terlihat rumah tua dengan jendela hijau dan taman kecil.",
        "Langit berawan dan jalan basah, jadi mungkin baru saja turun hujan.",
    ),
    "ru": (
        "Коричневая собака бежит по пляжу, а за ней идут два человека.",
        "На столе стоит красная кружка рядом с открытой книгой и очками.",
    ),
    "zh": ("一只棕色的狗沿着海滩奔跑，后面有两个人在散步。", "桌子上有一个红色的杯子，旁边是一本打开的书。"),
    "ja": (
        "茶色の犬が浜辺を走っていて、後ろを二人が歩いています。",
        "テーブルの上には赤いカップと開いた本があります。",
    ),
    "ko": ("갈색 개가 해변을 따라 달리고 두 사람이 뒤에서 걷고 있습니다.", "탁자 위에 빨간 컵과 펼쳐진 책이 있습니다."),
}
"""By language; some eight to twenty words each."""

ENGLISH = (
    "No, I do not see any dogs or cats here.",
    "Red brick house, white door, green lawn, grey sky, no cars.",
    "A brown dog runs along the beach while two people walk behind it.",
    "On the table there is a red mug next to an open book.",
    "Two men, one woman, three children, a picnic blanket, sunny weather.",
    "There are no people in the picture, only an empty street.",
    "Do the birds sit on the wire? No, they do not.",
    "Bright orange pumpkins pile up beside wooden crates near a barn.",
    "Snow covers mountain peaks under clear blue skies at dawn.",
    "It is a café in Paris with a façade of old stone.",
    "Jalapeño peppers, crème brûlée and a piñata lie on one table.",
    "El Niño is written on the sign above the old shop door.",
    "Close-up photograph of a monarch butterfly resting on purple lavender.",
    "Vintage red car parked outside a small Italian restaurant called La Casa.",
    "Man wearing glasses reads newspaper while drinking coffee at bus stop.",
    "Aerial view of winding river through dense green forest.",
    "I think this is a Labrador because of its short coat and broad head.",
    'The sign says "No entrar", which means that nobody may go in.',
    "Skateboarder performs trick over concrete stairs; crowd watches, cameras ready.",
    "Black cat sleeping on grey sofa, window behind, plants nearby.",
    "Yellow taxi, wet road, tall buildings, neon lights, evening traffic.",
    "Let me look at it again: the mug is on the left, not on the right.",
    "This could be Lisbon, São Paulo or Málaga, but I am not sure.",
    "Old stone bridge crossing calm water with autumn trees reflected.",
    "She holds a baby in her arms and smiles at him.",
    "Its wings are spread, its beak is open, and its eyes are yellow.",
    "Six eggs in a carton; one is cracked, the others are whole.",
    "He is about to hit the ball, so the crowd stands up.",
    "Pizza, pasta and tiramisu stand on a chequered tablecloth in a trattoria.",
    "Street vendor sells fruit: mangoes, papayas, limes and bananas.",
)
"""Eight to sixteen words each, some without any of the commonest words, some with names from elsewhere."""

UNSEEN: dict[str, tuple[str, ...]] = {
    "et": (
        "Pruun koer jookseb mööda randa ja kaks inimest kõnnivad tema järel.",
        "Laual on punane kruus avatud raamatu ja prillide kõrval.",
    ),
    "hr": (
        "Smeđi pas trči duž plaže dok dvije osobe hodaju iza njega.",
        "Na stolu stoji crvena šalica pored otvorene knjige i naočala.",
    ),
    "ca": (
        "Un gos marró corre per la platja mentre dues persones caminen darrere seu.",
        "Sobre la taula hi ha una tassa vermella al costat d'un llibre obert.",
    ),
    "sw": (
        "Mbwa wa kahawia anakimbia kando ya ufuo huku watu wawili wakitembea nyuma yake.",
        "Juu ya meza kuna kikombe chekundu karibu na kitabu kilichofunguliwa na miwani.",
    ),
    "tl": (
        "Isang kayumangging aso ang tumatakbo sa tabing-dagat habang dalawang tao ang naglalakad sa likuran nito.",
        "Sa ibabaw ng mesa ay may pulang tasa sa tabi ng isang bukas na aklat at salamin.",
    ),
    "lt": ("Rudas šuo bėga palei paplūdimį, o du žmonės eina už jo.",),
    "no": (
        "En brun hund løper langs stranden mens to personer går bak den.",
        "På bordet står en rød kopp ved siden av en åpen bok.",
    ),
    "sq": ("Një qen kafe vrapon përgjatë plazhit ndërsa dy njerëz ecin pas tij.",),
    "af": (
        "'n Bruin hond hardloop langs die strand terwyl twee mense agter hom stap.",
        "Op die tafel staan 'n rooi beker langs 'n oop boek.",
    ),
    "la": ("Canis fuscus per litus currit dum duo homines post eum ambulant in arena.",),
    "de": (
        "Die Katze schläft auf dem Sofa neben dem Fenster im Wohnzimmer.",
        "Drei Kinder spielen Fußball in einem Park mit hohen Bäumen.",
    ),
    "tr": (
        "Kedi pencerenin yanındaki kanepede uyuyor ve güneş parlıyor.",
        "Üç çocuk yüksek ağaçların olduğu bir parkta futbol oynuyor.",
    ),
    "fi": (
        "Kissa nukkuu sohvalla ikkunan vieressä ja aurinko paistaa sisään.",
        "Kolme lasta pelaa jalkapalloa puistossa, jossa on korkeita puita.",
    ),
    "vi": (
        "Con mèo đang ngủ trên ghế sofa cạnh cửa sổ phòng khách.",
        "Ba đứa trẻ chơi bóng đá trong công viên có nhiều cây cao.",
    ),
    "sv": (
        "Katten sover på soffan bredvid fönstret och solen skiner in.",
        "Tre barn spelar fotboll i en park med höga träd.",
    ),
    "id": (
        "Kucing tidur di sofa dekat jendela ruang tamu yang terang.",
        "Tiga anak bermain sepak bola di taman dengan pohon tinggi.",
    ),
    "pl": ("Kot śpi na kanapie obok okna, a słońce świeci do środka.",),
    "hu": ("A macska a kanapén alszik az ablak mellett, és besüt a nap.",),
    "es": ("El gato duerme en el sofá junto a la ventana y entra el sol.",),
    "pt": ("O gato dorme no sofá ao lado da janela e entra o sol.",),
    "it": ("Il gatto dorme sul divano accanto alla finestra ed entra il sole.",),
    "fr": ("Le chat dort sur le canapé près de la fenêtre et le soleil entre.",),
    "ro": ("Pisica doarme pe canapea lângă fereastră și soarele intră în cameră.",),
}
"""Written after the lists of words were; several languages have no list."""
