// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.IOException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/* Jetty 9 with the pages of java_shop: java_jetty PORT. */
public class java_jetty {
	static class Shop extends HttpServlet {
		@Override
		protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
			try {
				response.getWriter().print(java_shop.page(request.getPathInfo()));
			} catch (Exception e) {
				throw new IOException(e);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		Server server = new Server(Integer.parseInt(args[0]));
		ServletContextHandler context = new ServletContextHandler();

		java_shop.fill();
		context.addServlet(new ServletHolder(new Shop()), "/*");
		server.setHandler(context);
		server.start();
		System.out.println("ready " + ProcessHandle.current().pid());
		server.join();
	}
}
