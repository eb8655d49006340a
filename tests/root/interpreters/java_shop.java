// SPDX-License-Identifier: GPL-2.0-or-later
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import com.fasterxml.jackson.databind.ObjectMapper;

/*
 * A shop: its pages are queries of a database in memory, written as JSON or in lines of HTML. The servers' programs
 * call page(). One connection for each thread.
 */
public class java_shop {
	public static class Item {
		public int id, price;
		public String name;
		public List<String> words = new ArrayList<>();
	}

	static final Pattern word = Pattern.compile("([a-z]+)(\\d*)");
	static final ObjectMapper json = new ObjectMapper();
	static final ThreadLocal<Connection> connections = ThreadLocal.withInitial(java_shop::connect);

	static Connection connect() {
		try {
			return DriverManager.getConnection("jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1");
		} catch (SQLException e) {
			throw new IllegalStateException(e);
		}
	}

	static void fill() throws SQLException {
		try (Statement s = connections.get().createStatement()) {
			s.execute("create table items (id int primary key, name varchar, price int)");
		}
		try (PreparedStatement p = connections.get().prepareStatement("insert into items values (?, ?, ?)")) {
			for (int i = 0; i < 2000; i++) {
				p.setInt(1, i);
				p.setString(2, "item" + i + " red" + i % 7 + " of kind" + i % 31);
				p.setInt(3, i * 7919 % 1000);
				p.execute();
			}
		}
	}

	static List<Item> items(int from) throws SQLException {
		List<Item> items = new ArrayList<>();
		try (PreparedStatement p = connections.get().prepareStatement(
			     "select id, name, price from items where price >= ? order by price, name limit 40")) {
			p.setInt(1, from);
			try (ResultSet rows = p.executeQuery()) {
				while (rows.next()) {
					Item item = new Item();
					item.id = rows.getInt(1);
					item.name = rows.getString(2);
					item.price = rows.getInt(3);
					word.matcher(item.name).results().forEach(m -> item.words.add(m.group(1)));
					items.add(item);
				}
			}
		}
		return items;
	}

	static String page(String path) throws Exception {
		int from = Integer.parseInt(path.substring(1));
		List<Item> items = items(from);
		String head = "<h1>From " + from + "</h1>\n";
		if (from % 2 == 0)
			return head + json.writeValueAsString(items);
		return head + items.stream()
				      .sorted(Comparator.comparing((Item item) -> item.name).thenComparing(item -> item.price))
				      .map(item -> String.format("<li>%s: %d", item.name, item.price))
				      .collect(Collectors.joining("\n"));
	}
}
