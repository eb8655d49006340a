# SPDX-License-Identifier: GPL-2.0-or-later
"""A small shop: a WSGI application with a template engine and a database. Imported by gunicorn as
wsgi_shop:app."""
import sqlite3
import threading

from flask import Flask, render_template_string

app = Flask(__name__)
page = """<h1>{{ title }}</h1><ul>{% for it in items|sort(attribute="name") %}
<li>{{ it.name|title|e }}: {{ "%.2f"|format(it.price / 100) }}{% if it.price > 500 %} <b>dear</b>{% endif %}</li>
{% endfor %}</ul>"""


def connect():
    base = sqlite3.connect(":memory:")
    base.row_factory = sqlite3.Row
    base.create_function("taxed", 1, lambda price: price * 119 // 100)
    base.execute("CREATE TABLE items (name TEXT, price INTEGER)")
    base.executemany("INSERT INTO items VALUES (?, ?)", [(f"item <{i % 37}>", i * 7 % 1000)
                                                         for i in range(200)])
    return base


own = threading.local()  # a connection for each thread


@app.route("/<int:least>")
def items(least):
    if not hasattr(own, "base"):
        own.base = connect()
    rows = own.base.execute("SELECT name, taxed(price) AS price FROM items WHERE price >= ? "
                        "ORDER BY price", (least,)).fetchall()
    return render_template_string(page, title=f"From {least}", items=rows)
