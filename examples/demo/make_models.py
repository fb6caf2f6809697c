#!/usr/bin/env python3
"""Makes the demo's three text classifiers (English, German, Japanese: weather, sport or food).

    python examples/demo/make_models.py

Needs TensorFlow 2.16 or newer with Keras 3. Writes, beside this script:
    models/{en,de,ja}                           the exported models
    golden/{en,de,ja}/serving_default.I.npz     their answers, as tools/record_golden.py writes them
    sentences.json                              labels, and an example for each model

Each model takes sentences as strings and gives three probabilities: TextVectorization, Embedding, mean
over the words, two dense layers. They learn from sentences put together from the parts below, for a few
seconds: enough to be right about plain sentences on the three topics.
"""
import itertools
import json
import os
import pathlib
import random
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import keras
import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
from record_golden import record  # noqa: E402

LABELS = ["weather", "sport", "food"]
SENTENCES_PER_TOPIC = 400

# Parts a sentence is put together from: {name} takes any of the words listed under the name.
ENGLISH = {
    "parts": {
        "place": ("London Paris Berlin Madrid Dublin Oslo Boston Tokyo Sydney Rome Vienna Lisbon Athens "
                  "Prague Chicago Toronto Cairo Lima").split(),
        "when": ["today", "tomorrow", "tonight", "this morning", "this evening", "on Monday",
                 "on Friday", "next week", "this weekend", "all day"],
        "who": ["my sister", "our neighbour", "the children", "my brother", "everyone", "a friend"],
        "how": ("heavy light strong warm cold mild sudden steady early bitter fierce gentle dry humid "
                  "icy freezing").split(),
        "sky": ("rain snow wind fog thunder hail sunshine frost drizzle storms clouds showers lightning "
                  "sleet breeze heat haze gales").split(),
        "side": "north south east west coast hills mountains valley".split(),
        "game": ("football tennis hockey basketball rugby cricket volleyball golf baseball badminton "
                  "handball boxing rowing cycling skiing").split(),
        "player": ("goalkeeper captain striker coach champion runner swimmer rookie referee defender "
                  "midfielder sprinter boxer skier team player athlete").split(),
        "deed": ("wins loses scores trains celebrates attacks defends misses leads jumps runs passes "
                  "shoots fights returns").split(),
        "event": ("match final race tournament league marathon season derby game cup championship "
                  "sprint").split(),
        "dish": ("soup bread pasta cheese salad pizza rice curry cake pancakes stew noodles chicken fish "
                  "potatoes sandwiches dumplings beans omelette pie sausages sushi").split(),
        "taste": ("delicious sweet spicy salty fresh crispy creamy sour bland tasty juicy tender bitter "
                  "fruity smoky rich").split(),
        "cook": ("bakes cooks fries boils grills tastes orders serves eats roasts mixes prepares "
                 "loves").split(),
        "with": ("garlic butter pepper onions tomatoes basil honey lemon cream mushrooms cinnamon "
                  "chocolate spinach ginger salt sugar olives carrots").split(),
    },
    "weather": [
        "{how} {sky} and {sky} are expected in {place} {when}",
        "The forecast for {place} promises {sky} {when}",
        "Temperatures drop in the {side}, with {how} {sky} {when}",
        "Take an umbrella, {sky} is coming from the {side}",
        "It stays cloudy and {how} in {place} {when}",
        "The sky clears over the {side} and it gets sunny {when}",
    ],
    "sport": [
        "The {player} {deed} the {event} in {place} {when}",
        "Our team plays {game} against {place} {when}",
        "The {player} trains hard for the {game} {event}",
        "{who} watches the {game} {event} in the stadium {when}",
        "A late goal decides the {event} and the crowd cheers",
        "The {player} {deed} after the break and breaks the record",
    ],
    "food": [
        "{who} {cook} {dish} with {with} {when}",
        "The {dish} in this restaurant tastes {taste} and {taste}",
        "Add {with} and {with} to the {dish} and stir",
        "For dinner there is {taste} {dish} with {with}",
        "The chef {cook} {dish} in the kitchen {when}",
        "A recipe for {taste} {dish} from {place}",
    ],
    "examples": ["Heavy rain and strong wind are expected in London tomorrow.",
                 "The captain scores and our team wins the final!",
                 "My sister cooks noodles with garlic and mushrooms."],
}

GERMAN = {
    "parts": {
        "ort": ("Berlin Hamburg München Köln Wien Zürich Bremen Dresden Leipzig Salzburg Frankfurt "
                  "Stuttgart Bonn Basel Graz Linz Kiel Rostock").split(),
        "wann": ["heute", "morgen", "am Abend", "am Montag", "am Freitag", "nächste Woche",
                 "am Wochenende", "in der Nacht", "den ganzen Tag"],
        "wer": ["meine Schwester", "unser Nachbar", "mein Bruder", "die Großmutter", "ein Freund"],
        "wie": ("starker leichter kräftiger kalter warmer milder plötzlicher dichter heftiger sanfter "
                  "trockener eisiger feuchter schwacher").split(),
        "himmel": ("Regen Schnee Wind Nebel Hagel Frost Sturm Sonnenschein Nieselregen Gewitter Schneefall "
                  "Graupel Föhn Hitze Wolken Donner Blitz").split(),
        "gegend": "Norden Süden Osten Westen Gebirge Tal Küstengebiet".split(),
        "spiel": ("Fußball Tennis Handball Eishockey Basketball Volleyball Golf Badminton Rugby Boxen "
                  "Rudern Radsport Skispringen").split(),
        "spieler": ("Torwart Kapitän Stürmer Trainer Meister Läufer Schwimmer Verteidiger Sprinter Boxer "
                  "Spieler Sieger Neuling").split(),
        "tat": ("gewinnt verliert trifft trainiert jubelt verteidigt führt läuft springt kämpft schießt "
                  "punktet").split(),
        "anlass": ("Spiel Finale Rennen Turnier Endspiel Derby Pokalspiel Halbfinale Heimspiel "
                  "Freundschaftsspiel").split(),
        "gericht": ("Suppe Brot Nudeln Käse Salat Pizza Reis Kuchen Klöße Eintopf Kartoffeln Schnitzel "
                  "Bratwurst Fisch Hähnchen Bohnen Pfannkuchen Spätzle Gulasch Auflauf").split(),
        "geschmack": ("köstlich süß scharf salzig frisch knusprig cremig sauer würzig saftig zart bitter "
                  "fruchtig mild lecker").split(),
        "kochen": ("backt kocht brät grillt probiert bestellt serviert isst würzt mischt bereitet liebt").split(),
        "dazu": ("Knoblauch Butter Pfeffer Zwiebeln Tomaten Basilikum Honig Zitrone Pilzen Zimt "
                  "Schokolade Spinat Ingwer Salz Zucker Oliven Möhren Sahne Petersilie").split(),
    },
    "weather": [
        "{wie} {himmel} und {himmel} werden {wann} in {ort} erwartet",
        "Die Vorhersage für {ort} verspricht {himmel} {wann}",
        "Die Temperaturen sinken im {gegend}, es kommt {wie} {himmel}",
        "Nimm einen Schirm mit, {himmel} zieht aus dem {gegend} auf",
        "In {ort} bleibt es {wann} bewölkt und kühl",
        "Im {gegend} wird es {wann} sonnig und trocken",
    ],
    "sport": [
        "Der {spieler} {tat} das {anlass} in {ort} {wann}",
        "Unsere Mannschaft spielt {wann} {spiel} gegen {ort}",
        "Der {spieler} {tat} in der letzten Minute",
        "{wer} sieht das {anlass} im Stadion {wann}",
        "Ein spätes Tor entscheidet das {anlass} und die Fans jubeln",
        "Beim {spiel} bricht der {spieler} den Rekord",
    ],
    "food": [
        "{wer} {kochen} {wann} {gericht} mit {dazu}",
        "Das Essen im Restaurant schmeckt {geschmack} und {geschmack}",
        "Gib {dazu} und {dazu} in die {gericht} und rühre um",
        "Zum Abendessen gibt es {gericht} mit {dazu}",
        "Der Koch {kochen} {gericht} in der Küche {wann}",
        "Ein Rezept für {gericht} aus {ort}, {geschmack} und leicht",
    ],
    "examples": ["Starker Wind und Regen werden morgen in Köln erwartet.",
                 "Unsere Mannschaft gewinnt das Endspiel in der letzten Minute!",
                 "Die Großmutter backt Kuchen mit Honig und Zitrone."],
}

JAPANESE = {
    "parts": {
        "所": "東京 大阪 京都 札幌 福岡 名古屋 横浜 沖縄 仙台".split(),
        "時": "今日 明日 今夜 朝 夕方 月曜日 週末 来週 午後".split(),
        "人": "姉 弟 友達 母 父 先生 隣の人".split(),
        "空": "雨 雪 風 霧 雷 嵐 台風 雲 日差し にわか雨".split(),
        "度": "強い 弱い 激しい 冷たい 暖かい 穏やかな".split(),
        "方": "北 南 東 西 山 海".split(),
        "競技": "サッカー 野球 テニス バスケットボール 柔道 水泳 相撲 バレーボール".split(),
        "選手": "選手 監督 主将 投手 走者 横綱 チーム".split(),
        "動": "勝った 負けた 優勝した 得点した 練習した 活躍した".split(),
        "大会": "試合 決勝 大会 レース リーグ戦 マラソン".split(),
        "料理": "ラーメン 寿司 カレー うどん 味噌汁 餃子 天ぷら ケーキ パン ご飯".split(),
        "味": "美味しい 甘い 辛い しょっぱい 新鮮な 香ばしい 酸っぱい".split(),
        "作": "作った 食べた 焼いた 煮た 注文した 味わった".split(),
        "材料": "卵 玉ねぎ 豆腐 牛肉 野菜 醤油 魚 きのこ".split(),
    },
    "weather": [
        "{時}は{所}で{度}{空}が降るでしょう。",
        "{方}から{度}{空}が近づいています。",
        "{所}の天気は{時}から晴れるでしょう。",
        "{時}は気温が下がり、{空}に注意してください。",
        "{所}は曇り、時々{空}の予報です。",
    ],
    "sport": [
        "{選手}が{競技}の{大会}で{動}。",
        "{時}、{所}で{競技}の{大会}がある。",
        "{人}は{競技}の{大会}を応援した。",
        "{選手}は{時}の{大会}に向けて練習した。",
        "最後の一分でゴールを決めて{動}。",
    ],
    "food": [
        "{人}が{材料}と{材料}で{料理}を{作}。",
        "この店の{料理}はとても{味}。",
        "{時}は{所}で{味}{料理}を{作}。",
        "{料理}に{材料}を入れて煮る。",
        "夕食は{料理}と{味}{料理}だった。",
    ],
    "examples": ["明日は東京で激しい雨が降るでしょう。",
                 "チームがサッカーの決勝で優勝した!",
                 "ラーメンと餃子がとても美味しかった。"],
}


def sentences(language, topic, rng):
    """Sentences of the topic, each word drawn anew."""
    for template in itertools.islice(itertools.cycle(language[topic]), SENTENCES_PER_TOPIC):
        while "{" in template:
            name = template[template.index("{") + 1:template.index("}")]
            template = template.replace("{" + name + "}", rng.choice(language["parts"][name]), 1)
        yield template


def lower_and_strip(text):
    """Lower case beyond ASCII too, which Keras's own standardisation leaves alone."""
    return tf.strings.regex_replace(tf.strings.lower(text, encoding="utf-8"), r"[[:punct:]]", "")


def strip_japanese(text):
    return tf.strings.regex_replace(text, r"[\s。、!?！？]", "")


VECTORIZERS = {
    "en": dict(standardize="lower_and_strip_punctuation", split="whitespace"),
    "de": dict(standardize=lower_and_strip, split="whitespace"),
    "ja": dict(standardize=strip_japanese, split="character", ngrams=2),
}
LANGUAGES = {"en": ENGLISH, "de": GERMAN, "ja": JAPANESE}
EXAMPLE_TOPIC = {"en": 0, "de": 1, "ja": 2}


def train(name):
    keras.utils.set_random_seed(7)
    rng = random.Random(7)
    language = LANGUAGES[name]
    text, topics = [], []
    for number, topic in enumerate(LABELS):
        made = list(sentences(language, topic, rng))
        text += made
        topics += [number] * len(made)
    text, topics = tf.constant(text), np.array(topics)
    vectorize = keras.layers.TextVectorization(
        max_tokens=600, output_sequence_length=32, name="words", **VECTORIZERS[name])
    vectorize.adapt(text)
    model = keras.Sequential([
        keras.Input(shape=(), dtype="string", name="text"),
        vectorize,
        keras.layers.Embedding(vectorize.vocabulary_size(), 12),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(12, activation="relu"),
        keras.layers.Dense(len(LABELS), activation="softmax", name="topic"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.optimizer.learning_rate = 0.005
    history = model.fit(text, topics, epochs=3, batch_size=32, verbose=0)
    accuracy = history.history["accuracy"][-1]
    print(f"{name}: {vectorize.vocabulary_size()} words, accuracy {accuracy:.3f}")
    return model


def main():
    examples = {}
    for name, language in LANGUAGES.items():
        model = train(name)
        path = HERE / "models" / name
        shutil.rmtree(path, ignore_errors=True)
        model.export(path, verbose=False)
        sentence = language["examples"][EXAMPLE_TOPIC[name]]
        more = [*language["examples"], sentence.upper(), "xyzzy", ""]
        cases = [{"text": np.array([sentence], object)}, {"text": np.array(more, object)}]
        answers = record(path, "serving_default", cases, HERE / "golden" / name)
        for text, row in zip(more, next(iter(answers[1].values()))):
            print(f"  {text}  {LABELS[int(row.argmax())]} {row.max():.2f}")
        examples[name] = {"sentence": sentence, "label": LABELS[EXAMPLE_TOPIC[name]]}
    text = json.dumps({"labels": LABELS, "examples": examples}, ensure_ascii=False, indent=2)
    (HERE / "sentences.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
