"""Templates of replies for `benchmarks/replies.py`: one on each line, with its style before the bar.

`{k}` is the key that the reply chooses, `{a}`, `{b}` and `{c}` are the keys of the other options, `{tk}`, `{ta}`, `{tb}`
and `{tc}` their texts; `{options}` lists all four, and ⏎ is a line break. A style that begins with "none" marks a reply
that chooses no option. The families of `held_out()` were written before the parser was changed and were scored once
afterwards; those of `held_out_later()` were written after the last change.
"""

from __future__ import annotations

OPTIONS: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "english": (("cat", "dog", "red panda", "horse"), ("a red car", "a blue bus", "a green van", "a white truck")),
    "german": (("Katze", "Hund", "Pferd", "Fuchs"), ("ein rotes Auto", "ein blauer Bus", "ein Fahrrad", "ein Zug")),
    "french": (("chat", "chien", "cheval", "renard"), ("une voiture rouge", "un bus bleu", "un vélo", "un train")),
    "spanish": (("gato", "perro", "caballo", "zorro"), ("un coche rojo", "un autobús azul", "una bici", "un tren")),
    "portuguese": (("gato", "cachorro", "cavalo", "raposa"), ("um carro vermelho", "um ônibus", "uma moto", "um trem")),
    "italian": (("gatto", "cane", "cavallo", "volpe"), ("una macchina rossa", "un autobus blu", "una bici", "un treno")),
    "russian": (("кошка", "собака", "лошадь", "лиса"), ("красная машина", "синий автобус", "велосипед", "поезд")),
    "japanese": (("ネコ", "イヌ", "ウマ", "キツネ"), ("赤い車", "青いバス", "自転車", "電車")),
    "korean": (("고양이", "강아지", "여우", "호랑이"), ("빨간 자동차", "파란 버스", "자전거", "기차")),
    "chinese": (("小猫", "小狗", "骏马", "狐狸"), ("红色汽车", "蓝色公交", "自行车", "火车")),
}

_HELD_OUT = {
    "english": r"""
terse | {k}!
terse | [{k}] {tk}
terse | Choice {k}
answer line | ANSWER - {k}
answer line | Final response: {k}
answer line | Selected option: ({k})⏎Confidence: 80%
answer line | My answer → {k}
markdown | **Correct option:** {k}) {tk}⏎⏎**Why:** the outline matches; {a}) {ta} has another shape.
markdown | ## Conclusion⏎⏎The picture shows **{tk}**, i.e. option **{k}**.
markdown | - **{a}**: wrong shape⏎- **{b}**: wrong color⏎- **{c}**: too small⏎⏎➡️ **{k}**
boxed | Hence $$\boxed{\text{({k})}}$$
boxed | Since {a} and {b} fail, we get $\boxed{\textbf{{k}}}$.
json | {"thought": "{a} has the wrong shape, {b} the wrong color.", "answer": {"option": "{k}"}}
json | [{"answer": "{k}", "why": "not {a}, not {c}"}]
chain of thought | Let me look at each one. {a} shows the wrong shape. {b} has the wrong color. {c} is too small. That leaves {k}.
chain of thought | First, the ears: they are pointed. Second, the size: rather small. Only {k} matches everything that is visible.
chain of thought | If it were {a}, there would be stripes. There are none. If it were {b}, the ears would hang. They don't. So we end up at {k}.
hedging | I'm leaning towards {k}, though {a} is not out of the question.
hedging | If I had to bet, I'd put my money on {k}.
hedging | Hard to say for certain, but {k} seems most consistent with the picture.
correction | My first instinct was {a}, but the ears rule that out, so {k} it is.
correction | {a}... no, hold on, the tail is striped. It's {k}.
correction | I initially picked {a}; that was a mistake, and {k} is what the picture shows.
correction | Answer: {a}⏎⏎Edit: looking again, the answer is {k}.
correction | I considered {a} and {b} before settling on {k}.
denial | It can't possibly be {a}, {b} or {c}; {k} is what remains.
denial | Neither {a} nor {b} works, {c} is off as well, which leaves us with {k}.
denial | The answer isn't {a}. It isn't {b} or {c} either. It's {k}.
denial | All of the options apart from {k} are wrong.
denial | {a} is a distractor, and so is {b}. {c} was never plausible. The right one is {k}.
elimination | ❌ {a}⏎❌ {b}⏎✅ {k}⏎❌ {c}
elimination | Strike out {a}. Strike out {b}. Strike out {c}. What is left is {k}.
elimination | By elimination ({a}, {b} and {c} are impossible), {k}.
restating | {options}⏎⏎Response: {k}
restating | Of A, B, C and D, the one that fits is {k}.
restating | The choices are {ta}, {tb}, {tc} and {tk}. The picture clearly shows {tk}.
none: denial | It's definitely not {a}.
none: denial | {a} is tempting, but wrong.
none: denial | Not {a}.
none: undecided | I can rule out {a} and {b}, but can't decide between {k} and {c}.
none: undecided | Could be {a}, could be {k}.
none: refusal | I'm not comfortable answering questions about this picture.
none: cut off | {options}⏎⏎Let me compare them. The animal in the picture has
""",
    "german": r"""
answer line | **Antwort:** {k}) {tk}
chain of thought | Das Bild zeigt keine Streifen, also scheidet {a} aus. Übrig bleibt {k}.
denial | {a} kann es nicht sein, {b} und {c} auch nicht. Es ist {k}.
denial | Alle außer {k} sind falsch.
correction | Zuerst dachte ich an {a}, aber richtig ist {k}.
hedging | Ich tippe auf {k}.
none: denial | {a} ist es jedenfalls nicht.
none: refusal | Dazu kann ich leider nichts sagen.
""",
    "french": r"""
answer line | **Réponse :** {k}) {tk}
chain of thought | L'image ne montre pas de rayures, donc {a} est exclu. Il reste {k}.
denial | Ce ne peut pas être {a}, ni {b}, ni {c}. C'est {k}.
denial | Toutes les options sauf {k} sont fausses.
correction | J'ai d'abord pensé à {a}, mais la bonne réponse est {k}.
hedging | Je pencherais pour {k}.
none: denial | Ce n'est certainement pas {a}.
none: refusal | Je suis désolé, je ne peux pas répondre à cette question.
""",
    "spanish": r"""
answer line | **Respuesta:** {k}) {tk}
chain of thought | La imagen no muestra rayas, así que {a} queda descartada. Solo queda {k}.
denial | No puede ser {a}, ni {b}, ni {c}. Es la {k}.
denial | Todas menos {k} son incorrectas.
correction | Al principio pensé en {a}, pero la correcta es {k}.
hedging | Me inclino por la {k}.
none: denial | Desde luego no es la {a}.
none: refusal | Lo siento, no puedo responder a esta pregunta.
""",
    "portuguese": r"""
answer line | **Resposta:** {k}) {tk}
chain of thought | A imagem não mostra listras, então {a} está descartada. Só resta {k}.
denial | Não pode ser {a}, nem {b}, nem {c}. É a {k}.
denial | Todas menos {k} estão erradas.
correction | A princípio pensei em {a}, mas a correta é {k}.
hedging | Eu apostaria na {k}.
none: denial | Com certeza não é a {a}.
none: refusal | Desculpe, não posso responder a essa pergunta.
""",
    "italian": r"""
answer line | **Risposta:** {k}) {tk}
chain of thought | L'immagine non mostra strisce, quindi {a} è esclusa. Resta solo {k}.
denial | Non può essere {a}, né {b}, né {c}. È la {k}.
denial | Tutte tranne {k} sono sbagliate.
correction | All'inizio pensavo ad {a}, ma quella giusta è {k}.
hedging | Direi {k}.
none: denial | Di sicuro non è la {a}.
none: refusal | Mi dispiace, non posso rispondere a questa domanda.
""",
    "russian": r"""
answer line | **Ответ:** {k}) {tk}
chain of thought | На картинке нет полос, поэтому {a} исключаем. Остаётся {k}.
denial | Это не может быть {a}, {b} или {c}. Это {k}.
denial | Все варианты, кроме {k}, неверны.
correction | Сначала я подумал про {a}, но правильный вариант — {k}.
hedging | Склоняюсь к {k}.
none: denial | Это точно не {a}.
none: refusal | Извините, я не могу ответить на этот вопрос.
""",
    "japanese": r"""
answer line | **解答:** {k}
chain of thought | 縞模様がないので{a}は除外されます。残るのは{k}です。
denial | {a}ではありません。{b}でも{c}でもなく、{k}です。
denial | {k}以外はすべて間違いです。
correction | 最初は{a}だと思いましたが、正しくは{k}です。
hedging | おそらく{k}でしょう。
none: denial | 少なくとも{a}ではないです。
none: refusal | 申し訳ありませんが、お答えできません。
""",
    "korean": r"""
answer line | **답:** {k}
chain of thought | 줄무늬가 없으므로 {a}는 제외됩니다. 남는 것은 {k}입니다.
denial | {a}는 아닙니다. {b}도 {c}도 아니고 {k}입니다.
denial | {k}를 제외하고 모두 틀렸습니다.
correction | 처음에는 {a}라고 생각했지만 정답은 {k}입니다.
hedging | 아마 {k}일 것입니다.
none: denial | 적어도 {a}는 아닙니다.
none: refusal | 죄송하지만 답변할 수 없습니다.
""",
    "chinese": r"""
answer line | **【解答】** {k}
chain of thought | 图中没有条纹，所以排除{a}。剩下的是{k}。
denial | 不是{a}，也不是{b}和{c}，而是{k}。
denial | 除了{k}以外都是错的。
correction | 一开始我以为是{a}，但正确的是{k}。
hedging | 我倾向于{k}。
none: denial | 肯定不是{a}。
none: refusal | 很抱歉，我不能回答这个问题。
""",
}

_DEVELOPED = {
    "english": r"""
terse | {k}
terse | {k}.
terse | ({k})
terse | {k}) {tk}
terse | {k}: {tk}
terse | Option {k}.
terse | {tk}
answer line | Answer: {k}
answer line | Answer: ({k})⏎Explanation: {a} and {b} show something else.
answer line | The tail is long and the ears are short.⏎⏎Answer: {k}. {tk}
answer line | The correct answer is {k}.
answer line | The correct answer is {k}, not {a}.
answer line | The answer is {k} rather than {a}.
answer line | Final answer: {k}⏎⏎(I also considered {a} and {b}.)
answer line | Your option: {k}⏎Reason: {a} has the wrong color.
answer line | Correct answer: {k}⏎Incorrect answers: {a}, {b}, {c}
markdown | **{k}. {tk}**
markdown | The correct answer is **{k}**.⏎⏎**Explanation:** option **{a}** has the wrong color, and **{b}** is too small.
markdown | ### Analysis⏎⏎1. **{a}**: wrong color.⏎2. **{b}**: wrong shape.⏎3. **{c}**: too small.⏎⏎### Answer⏎⏎**{k}**
markdown | **Answer:** {k} — {tk}⏎⏎*Why not the others?*⏎- {a}: wrong color⏎- {b}: wrong shape⏎- {c}: too small
markdown | Based on the picture, the right choice is **({k}) {tk}**.
boxed | \boxed{{k}}
boxed | The final answer is $\boxed{\text{{k}}}$.
boxed | \[ \boxed{{k}. \text{ {tk}}} \]
boxed | First guess: \boxed{{a}}. Wait, the tail is striped, so this is wrong: \boxed{{k}}
json | {"answer": "{k}"}
json | ```json⏎{"reason": "{a} is too dark, {b} too small", "choice": "{k}"}⏎```
json | {"explanation": "It cannot be {a}.", "final_answer": "{k}", "confidence": 0.8}
tags | <think>Maybe {a}. The answer is {a}? No, the tail.</think>⏎{k}
tags | <answer>{k}</answer>
tags | <reasoning>{a} or {b}?</reasoning><answer>({k}) {tk}</answer>
chain of thought | Let's think step by step. {a} shows the wrong animal. {b} is too dark. {c} is too small. Therefore, the answer is {k}.
chain of thought | Step 1: {a} has the wrong color.⏎Step 2: {b} and {c} have the wrong size.⏎Step 3: {k} fits.⏎⏎So the answer is {k}.
chain of thought | Looking at the picture, I can see pointed ears. This matches option {k}. Options {a}, {b} and {c} do not match.
chain of thought | In {a} the object is far away, in {b} it is hidden. In {k} it is right in front. So it must be {k}.
chain of thought | Option {a} would need stripes. Option {b} would need wings. Option {k} needs neither, so I'd go for {k}.
chain of thought | The shape suggests {a} or {k}. The color suggests {k}. Therefore {k}.
chain of thought | Does it look like {a}? No. Like {b}? No. Like {c}? Not really. Like {k}? Yes.
hedging | I think it is {k}.
hedging | I believe the answer is most likely {k}, but I'm not entirely sure.
hedging | It might be {a}, but {k} is more likely.
hedging | {k} is probably right, although {a} can't be excluded entirely.
hedging | I can't be fully certain, but my best guess is {k}.
hedging | While {a} looks plausible, {k} fits better.
hedging | Torn between {a} and {k}, but ended up with {k}.
hedging | I was torn between {b} and {k}, but I'd say {k}.
hedging | I hesitate between {a} and {k}; in the end I choose {k}.
hedging | Though {a} is similar, I would answer {k}.
correction | The answer is {a}. Wait, no, the answer is {k}.
correction | Answer: {a}. Actually, {k}.
correction | I'd say {a}... Actually no, {k}.
correction | {a}. Sorry, I meant {k}.
correction | At first I thought it was {a}, but it is {k}.
correction | At first glance {a} looks right, but after checking the tail I'm going with {k}.
correction | I first chose {a}, then changed my mind to {k}.
correction | Initially {a} seemed correct. However, the color is wrong, so the correct answer is {k}.
correction | The answer is {a}. Hmm, let me recheck: the tail is striped. The answer is {k}.
correction | So the answer is {a}? No, because the tail is striped. The answer is {k}.
correction | I was going to say {a}, but it's actually {k}.
correction | Answer: {a}⏎⏎Correction: the answer is {k}.
correction | Scratch that, not {a}. It's {k}.
denial | It cannot be {a}. It has to be {k}.
denial | It can't be {a} because of the color, and it can't be {b} or {c} because of the size. It is {k}.
denial | Everything except {k} is wrong.
denial | All options except {k} can be ruled out.
denial | {a}, {b} and {c} can be ruled out. So {k}.
denial | {a}, {b} and {c} can all be ruled out.
denial | {a} is wrong. {b} is wrong. {c} is wrong. {k} is right.
denial | Not {a}, not {b}, not {c}: {k}.
denial | The answer is not {a} but {k}.
denial | The answer is not {a}; it is {k}.
denial | It's {k}, not {a}.
denial | It's not {a}, {b}, or {c}, so it must be {k}.
denial | No option other than {k} is right.
denial | The only option that is not wrong is {k}.
denial | I don't think it is {a}. I think it is {k}.
denial | Anyone who says {a} is mistaken; the answer is {k}.
denial | {a} doesn't match, {b} doesn't match, {c} doesn't match, {k} does.
denial | The answer can't be {a}, so I choose {k}.
elimination | A) {oA}⏎B) {oB}⏎C) {oC}⏎D) {oD}⏎⏎{a}: no. {b}: no. {c}: no. {k}: yes.
elimination | - {a}: incorrect, wrong color.⏎- {b}: incorrect, wrong shape.⏎- {c}: incorrect, too small.⏎- {k}: correct.
elimination | {a} ✗⏎{b} ✗⏎{k} ✓⏎{c} ✗
elimination | We can eliminate {a} and {b}. {c} is also out. That leaves {k}.
elimination | Ruling out {a}, {b} and {c}, the answer is {k}.
elimination | I exclude {a}, {b} and {c}. Remaining: {k}.
elimination | {a} is ruled out by the color, {b} by the shape and {c} by the size, leaving {k}.
restating | The options are:⏎{options}⏎⏎The correct one is {k}.
restating | {options}⏎⏎Looking at the picture, the answer is {k}.
restating | Which one is it: A, B, C or D? It is {k}.
restating | Options: A, B, C, D. I pick {k}.
restating | The question offers A, B, C and D. The answer: {k}
texts | The picture shows {tk}.
texts | It is not {ta}, it is {tk}.
texts | I see {tk}, so the answer is {k}.
texts | The answer is {tk}.
texts | It looks like {ta}, but it is actually {tk}.
none: denial | It cannot be {a}.
none: denial | The answer is not {a}.
none: denial | I don't think it is {a}.
none: denial | {a} is wrong.
none: denial | {a} and {b} can be ruled out.
none: denial | {a} is incorrect because the color is different.
none: denial | The answer is definitely not {a} or {b}.
none: denial | Everyone says {a}, but that is wrong.
none: denial | The answer is {a}. Wait, that can't be right.
none: undecided | It is either {a} or {k}.
none: undecided | I'm torn between {a} and {k}.
none: undecided | The answer is {a} or {k}, I can't tell which.
none: undecided | If the light is natural, the answer is {a}; if not, {k}.
none: undecided | None of A, B, C and D fits.
none: undecided | All of them are possible: A, B, C and D.
none: refusal | I'm sorry, but I can't help with that.
none: refusal | I cannot determine the answer from this picture. It could be A, B, C or D.
none: refusal | As an AI, I can't see the picture. Options A, B, C and D all remain possible.
none: refusal | There is not enough information to choose between {a} and {k}.
none: cut off | Let's go through the options. Option {a} shows something that is
none: cut off | The picture shows an animal with pointed ears. Comparing {a} and {b}, we can see that the
none: cut off | <think>It may be {a}, since the tail
""",
    "german": r"""
terse | {k}) {tk}
answer line | Antwort: {k}
answer line | Die richtige Antwort ist {k}.
answer line | Die richtige Antwort ist **{k}**, nicht {a}.
answer line | Die Antwort lautet ({k}) {tk}.
answer line | Richtig ist Option {k}.
markdown | **Antwort: {k}**⏎⏎- {a}: falsche Farbe⏎- {b}: falsche Form
chain of thought | Schritt 1: {a} passt nicht. Schritt 2: {b} und {c} sind zu klein. Daher ist die Antwort {k}.
chain of thought | {a} ist zu dunkel. {b} ist zu klein. {c} passt nicht. Also ist es {k}.
hedging | Ich glaube, es ist {k}.
hedging | Ich schwanke zwischen {a} und {k}, entscheide mich aber für {k}.
hedging | Vermutlich {k}, auch wenn {a} ähnlich aussieht.
correction | Die Antwort ist {a}. Moment, nein, die Antwort ist {k}.
correction | Ich dachte erst {a}, aber es ist {k}.
denial | Die Antwort ist nicht {a}, sondern {k}.
denial | Es kann nicht {a} sein. Es ist {k}.
denial | {a} ist falsch. {b} ist falsch. {c} ist falsch. {k} ist richtig.
denial | {a}, {b} und {c} können ausgeschlossen werden. Die Antwort ist {k}.
elimination | {a}: falsch⏎{b}: falsch⏎{c}: falsch⏎{k}: richtig
restating | {options}⏎⏎Antwort: {k}
texts | Das Bild zeigt {tk}.
none: denial | Es kann nicht {a} sein.
none: denial | {a} ist falsch.
none: denial | {a} und {b} sind ausgeschlossen.
none: undecided | Es ist {a} oder {k}.
none: undecided | Wenn es hell ist, ist es {a}, sonst {k}.
none: refusal | Es tut mir leid, aber das kann ich nicht beantworten.
none: cut off | Schauen wir uns die Optionen an. Option {a} zeigt ein Tier, das
""",
    "french": r"""
terse | {k}) {tk}
answer line | Réponse : {k}
answer line | La bonne réponse est {k}.
answer line | La réponse correcte est **{k}**, et non {a}.
answer line | La réponse est la ({k}) {tk}.
answer line | La bonne option est {k}.
markdown | **Réponse : {k}**⏎⏎- {a} : mauvaise couleur⏎- {b} : mauvaise forme
chain of thought | Étape 1 : {a} ne convient pas. Étape 2 : {b} et {c} sont trop petits. Donc la réponse est {k}.
chain of thought | {a} est trop sombre. {b} est trop petit. {c} ne convient pas. Donc c'est {k}.
hedging | Je pense que c'est {k}.
hedging | J'hésite entre {a} et {k}, mais je choisis {k}.
hedging | Probablement {k}, même si {a} est ressemblant.
correction | La réponse est {a}. Attendez, non, la réponse est {k}.
correction | Je pensais d'abord {a}, mais c'est {k}.
denial | La réponse n'est pas {a}, mais {k}.
denial | Ça ne peut pas être {a}. C'est {k}.
denial | {a} est faux. {b} est faux. {c} est faux. {k} est correct.
denial | {a}, {b} et {c} peuvent être exclus. La réponse est {k}.
elimination | {a} : faux⏎{b} : faux⏎{c} : faux⏎{k} : correct
restating | {options}⏎⏎Réponse : {k}
texts | L'image montre {tk}.
none: denial | Ce n'est pas {a}.
none: denial | {a} est faux.
none: denial | {a} et {b} sont exclus.
none: undecided | C'est {a} ou {k}.
none: undecided | Si la lumière est naturelle, c'est {a}, sinon {k}.
none: refusal | Désolé, je ne peux pas vous aider.
none: cut off | Regardons les options. L'option {a} montre un animal qui
""",
    "spanish": r"""
terse | {k}) {tk}
answer line | Respuesta: {k}
answer line | La respuesta correcta es {k}.
answer line | La respuesta correcta es la **{k}**, no la {a}.
answer line | La respuesta es la ({k}) {tk}.
answer line | La opción correcta es {k}.
markdown | **Respuesta: {k}**⏎⏎- {a}: color equivocado⏎- {b}: forma equivocada
chain of thought | Paso 1: {a} no encaja. Paso 2: {b} y {c} son pequeños. Por lo tanto, la respuesta es {k}.
chain of thought | {a} es muy oscuro. {b} es muy pequeño. {c} no encaja. Entonces es la {k}.
hedging | Creo que es la {k}.
hedging | Dudo entre {a} y {k}, pero elijo {k}.
hedging | Probablemente {k}, aunque {a} se parece.
correction | La respuesta es {a}. Espera, no, la respuesta es {k}.
correction | Primero pensé que era {a}, pero es {k}.
denial | La respuesta no es {a}, sino {k}.
denial | No puede ser {a}. Es {k}.
denial | {a} es incorrecta. {b} es incorrecta. {c} es incorrecta. {k} es correcta.
denial | {a}, {b} y {c} se pueden descartar. La respuesta es {k}.
elimination | {a}: incorrecta⏎{b}: incorrecta⏎{c}: incorrecta⏎{k}: correcta
restating | {options}⏎⏎Respuesta: {k}
texts | La imagen muestra {tk}.
none: denial | No puede ser {a}.
none: denial | {a} es incorrecta.
none: denial | {a} y {b} quedan descartadas.
none: undecided | Es {a} o {k}.
none: undecided | Si la luz es natural, es {a}; si no, {k}.
none: refusal | Lo siento, pero no puedo ayudarte con eso.
none: cut off | Veamos las opciones. La opción {a} muestra un animal que
""",
    "portuguese": r"""
terse | {k}) {tk}
answer line | Resposta: {k}
answer line | A resposta correta é {k}.
answer line | A resposta correta é a **{k}**, não a {a}.
answer line | A resposta é a ({k}) {tk}.
answer line | A opção correta é {k}.
markdown | **Resposta: {k}**⏎⏎- {a}: cor errada⏎- {b}: forma errada
chain of thought | Passo 1: {a} não serve. Passo 2: {b} e {c} são pequenos. Portanto, a resposta é {k}.
chain of thought | {a} é muito escuro. {b} é muito pequeno. {c} não serve. Portanto é a {k}.
hedging | Acho que é a {k}.
hedging | Estou em dúvida entre {a} e {k}, mas escolho {k}.
hedging | Provavelmente {k}, embora {a} seja parecido.
correction | A resposta é {a}. Espere, não, a resposta é {k}.
correction | Primeiro pensei que era {a}, mas é {k}.
denial | A resposta não é {a}, mas sim {k}.
denial | Não pode ser {a}. É {k}.
denial | {a} está errada. {b} está errada. {c} está errada. {k} está correta.
denial | {a}, {b} e {c} podem ser descartadas. A resposta é {k}.
elimination | {a}: errada⏎{b}: errada⏎{c}: errada⏎{k}: correta
restating | {options}⏎⏎Resposta: {k}
texts | A imagem mostra {tk}.
none: denial | Não pode ser {a}.
none: denial | {a} está errada.
none: denial | {a} e {b} estão descartadas.
none: undecided | É {a} ou {k}.
none: undecided | Se a luz for natural, é {a}; senão, {k}.
none: refusal | Desculpe, mas não posso ajudar com isso.
none: cut off | Vejamos as opções. A opção {a} mostra um animal que
""",
    "italian": r"""
terse | {k}) {tk}
answer line | Risposta: {k}
answer line | La risposta corretta è {k}.
answer line | La risposta corretta è la **{k}**, non la {a}.
answer line | La risposta è la ({k}) {tk}.
answer line | L'opzione corretta è {k}.
markdown | **Risposta: {k}**⏎⏎- {a}: colore sbagliato⏎- {b}: forma sbagliata
chain of thought | Passo 1: {a} non va bene. Passo 2: {b} e {c} sono piccoli. Quindi la risposta è {k}.
chain of thought | {a} è troppo scuro. {b} è troppo piccolo. {c} non va bene. Quindi è la {k}.
hedging | Penso che sia la {k}.
hedging | Sono indeciso tra {a} e {k}, ma scelgo {k}.
hedging | Probabilmente {k}, anche se {a} è simile.
correction | La risposta è {a}. Aspetta, no, la risposta è {k}.
correction | Prima pensavo che fosse {a}, ma è {k}.
denial | La risposta non è {a}, ma {k}.
denial | Non può essere {a}. È {k}.
denial | {a} è sbagliata. {b} è sbagliata. {c} è sbagliata. {k} è corretta.
denial | {a}, {b} e {c} si possono escludere. La risposta è {k}.
elimination | {a}: sbagliata⏎{b}: sbagliata⏎{c}: sbagliata⏎{k}: corretta
restating | {options}⏎⏎Risposta: {k}
texts | L'immagine mostra {tk}.
none: denial | Non può essere {a}.
none: denial | {a} è sbagliata.
none: denial | {a} e {b} sono escluse.
none: undecided | È {a} o {k}.
none: undecided | Se la luce è naturale, è {a}; altrimenti {k}.
none: refusal | Mi dispiace, ma non posso aiutarti.
none: cut off | Vediamo le opzioni. L'opzione {a} mostra un animale che
""",
    "russian": r"""
terse | {k}) {tk}
answer line | Ответ: {k}
answer line | Правильный ответ: {k}.
answer line | Правильный ответ — **{k}**, а не {a}.
answer line | Ответ: ({k}) {tk}.
answer line | Правильный вариант — {k}.
markdown | **Ответ: {k}**⏎⏎- {a}: не тот цвет⏎- {b}: не та форма
chain of thought | Шаг 1: {a} не подходит. Шаг 2: {b} и {c} слишком малы. Следовательно, ответ: {k}.
chain of thought | {a} слишком тёмный. {b} слишком мал. {c} не подходит. Значит, это {k}.
hedging | Я думаю, что это {k}.
hedging | Я сомневаюсь между {a} и {k}, но выбираю {k}.
hedging | Вероятно, {k}, хотя {a} похож.
correction | Ответ: {a}. Подождите, нет, ответ: {k}.
correction | Сначала я думал, что это {a}, но это {k}.
denial | Ответ не {a}, а {k}.
denial | Это не может быть {a}. Это {k}.
denial | {a} неверно. {b} неверно. {c} неверно. {k} верно.
denial | {a}, {b} и {c} можно исключить. Ответ: {k}.
elimination | {a}: неверно⏎{b}: неверно⏎{c}: неверно⏎{k}: верно
restating | {options}⏎⏎Ответ: {k}
texts | На картинке {tk}.
none: denial | Это не может быть {a}.
none: denial | {a} неверно.
none: denial | {a} и {b} исключены.
none: undecided | Это {a} или {k}.
none: undecided | Если свет естественный, то {a}, иначе {k}.
none: refusal | К сожалению, я не могу помочь с этим.
none: cut off | Рассмотрим варианты. Вариант {a} показывает животное, которое
""",
    "japanese": r"""
terse | {k}. {tk}
answer line | 答え:{k}
answer line | 正解は{k}です。
answer line | 正解は**{k}**です。{a}ではありません。
answer line | 答えは({k}){tk}です。
answer line | 正しい選択肢は{k}です。
markdown | **答え:{k}**⏎⏎- {a}:色が違う⏎- {b}:形が違う
chain of thought | まず、{a}は合いません。次に、{b}と{c}は小さすぎます。したがって、答えは{k}です。
chain of thought | {a}は暗すぎます。{b}は小さすぎます。{c}は合いません。よって{k}です。
hedging | {k}だと思います。
hedging | {a}と{k}で迷いましたが、{k}を選びます。
hedging | おそらく{k}です。{a}も似ていますが。
correction | 答えは{a}です。いや、違います。答えは{k}です。
correction | 最初は{a}だと思いましたが、{k}です。
denial | 答えは{a}ではなく、{k}です。
denial | {a}ではあり得ません。{k}です。
denial | {a}は間違いです。{b}は間違いです。{c}は間違いです。{k}が正しいです。
denial | {a}、{b}、{c}は除外できます。答えは{k}です。
elimination | {a}:不正解⏎{b}:不正解⏎{c}:不正解⏎{k}:正解
restating | {options}⏎⏎答え:{k}
texts | 写真に写っているのは{tk}です。
none: denial | {a}ではありません。
none: denial | {a}は間違いです。
none: denial | {a}と{b}は除外できます。
none: undecided | {a}か{k}です。
none: undecided | もし明るければ{a}、そうでなければ{k}です。
none: refusal | 申し訳ありませんが、お手伝いできません。
none: cut off | 選択肢を見てみましょう。選択肢{a}の動物は、耳が長くて体が大きく、そして
""",
    "korean": r"""
terse | {k}. {tk}
answer line | 정답: {k}
answer line | 정답은 {k}입니다.
answer line | 정답은 **{k}**입니다. {a}가 아닙니다.
answer line | 답은 ({k}) {tk}입니다.
answer line | 올바른 선택지는 {k}입니다.
markdown | **정답: {k}**⏎⏎- {a}: 색이 다름⏎- {b}: 모양이 다름
chain of thought | 먼저 {a}는 맞지 않습니다. {b}와 {c}는 너무 작습니다. 따라서 정답은 {k}입니다.
chain of thought | {a}는 너무 어둡습니다. {b}는 너무 작습니다. {c}는 맞지 않습니다. 따라서 {k}입니다.
hedging | {k}라고 생각합니다.
hedging | {a}와 {k} 사이에서 고민했지만 {k}를 선택합니다.
hedging | 아마도 {k}입니다. {a}도 비슷하지만요.
correction | 정답은 {a}입니다. 잠깐, 아니요, 정답은 {k}입니다.
correction | 처음에는 {a}인 줄 알았지만 {k}입니다.
denial | 정답은 {a}가 아니라 {k}입니다.
denial | {a}일 리가 없습니다. {k}입니다.
denial | {a}는 틀렸습니다. {b}는 틀렸습니다. {c}는 틀렸습니다. {k}가 맞습니다.
denial | {a}, {b}, {c}는 제외할 수 있습니다. 정답은 {k}입니다.
elimination | {a}: 오답⏎{b}: 오답⏎{c}: 오답⏎{k}: 정답
restating | {options}⏎⏎정답: {k}
texts | 사진에 있는 것은 {tk}입니다.
none: denial | {a}가 아닙니다.
none: denial | {a}는 틀렸습니다.
none: denial | {a}와 {b}는 제외할 수 있습니다.
none: undecided | {a} 또는 {k}입니다.
none: undecided | 만약 밝다면 {a}이고, 아니면 {k}입니다.
none: refusal | 죄송하지만 도와드릴 수 없습니다.
none: cut off | 선택지를 살펴보겠습니다. 선택지 {a}의 동물은 귀가 길고
""",
    "chinese": r"""
terse | {k}. {tk}
answer line | 答案：{k}
answer line | 正确答案是{k}。
answer line | 正确答案是**{k}**，不是{a}。
answer line | 答案是（{k}）{tk}。
answer line | 正确的选项是{k}。
markdown | **答案：{k}**⏎⏎- {a}：颜色不对⏎- {b}：形状不对
chain of thought | 首先，{a}不符合。其次，{b}和{c}太小。因此，答案是{k}。
chain of thought | {a}太暗。{b}太小。{c}不符合。所以是{k}。
hedging | 我认为是{k}。
hedging | 我在{a}和{k}之间犹豫，最后选{k}。
hedging | 大概是{k}，虽然{a}也很像。
correction | 答案是{a}。等等，不对，答案是{k}。
correction | 我一开始觉得是{a}，但其实是{k}。
denial | 答案不是{a}，而是{k}。
denial | 不可能是{a}。是{k}。
denial | {a}错误。{b}错误。{c}错误。{k}正确。
denial | {a}、{b}、{c}都可以排除，答案是{k}。
denial | 除{k}外都不对。
elimination | {a}：错误⏎{b}：错误⏎{c}：错误⏎{k}：正确
restating | {options}⏎⏎答案：{k}
texts | 图中是{tk}。
none: denial | 不可能是{a}。
none: denial | {a}是错误的。
none: denial | {a}和{b}可以排除。
none: undecided | 是{a}或者{k}。
none: undecided | 如果光线充足，就是{a}，否则是{k}。
none: refusal | 抱歉，我无法帮助你。
none: cut off | 我们来看各个选项。选项{a}里的动物耳朵很长，身体很大，而且
""",
}


def developed() -> dict[str, str]:
    """The families that the parser was developed on."""
    return _DEVELOPED


def held_out() -> dict[str, str]:
    """The families written before the parser was changed."""
    return _HELD_OUT


def held_out_later() -> dict[str, str]:
    """The families written after the parser's last change."""
    return {}
